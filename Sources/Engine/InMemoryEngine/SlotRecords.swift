import BackendContract
import PersistentStructures

extension PersistentArray<BucketState.SlotRecord> {
    /// The changes that created the live objects, in ascending order.
    var creations: [ChangeNumber] {
        lazy.filter(\.isAlive).map(\.creation)
    }

    /// The slot of the object that a change created, even if the object has been deleted.
    func slot(created creation: ChangeNumber) -> Slot? {
        let next = firstSlot(createdAfter: creation)
        guard next > 0, self[next - 1].creation == creation else { return nil }
        return Slot(next - 1)
    }

    /// The first slot whose object was created after a change number.
    ///
    /// - Complexity: O(log n). Numbers are distributed almost evenly over the slots, so the search
    ///   begins with interpolation.
    func firstSlot(createdAfter creation: ChangeNumber) -> Int {
        var (low, high) = (0, count)
        // Most calls ask for a new object.
        if high > 0, self[high - 1].creation <= creation { return high }
        for _ in 0..<4 where low < high {
            let (first, last) = (self[low].creation, self[high - 1].creation)
            if creation < first { return low }
            if creation >= last { return high }
            let share = Double(creation - first) / Double(last - first)
            let aimed = low + Int(share * Double(high - low - 1))
            if self[aimed].creation <= creation { low = aimed + 1 } else { high = aimed }
        }
        return (low..<high).firstPosition { self[$0].creation <= creation }
    }

    /// The records of many slots, fetched together.
    func fetch(_ slots: [Slot]) -> [BucketState.SlotRecord] {
        // All threads share one empty array, so its count must not be written.
        guard !slots.isEmpty else { return [] }
        var slots = slots
        return Array(unsafeUninitializedCapacity: slots.count) { found, count in
            count = slots.count
            slots.withUnsafeMutableBufferPointer { copy(at: $0, to: found) }
        }
    }
}
