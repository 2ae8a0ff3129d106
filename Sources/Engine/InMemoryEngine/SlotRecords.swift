import Backend
import SpatialIndex

/// The records of a bucket's slots, in the order of creation.
extension PersistentArray<BucketState.SlotRecord> {
    /// The changes that created the objects that are there, in their order.
    var creations: [ChangeNumber] {
        (0..<count).compactMap { self[$0].isAlive ? self[$0].creation : nil }
    }

    /// The slot of the object that a change created, one that is gone too.
    func slot(created creation: ChangeNumber) -> Slot? {
        let next = firstSlot(createdAfter: creation)
        guard next > 0, self[next - 1].creation == creation else { return nil }
        return Slot(next - 1)
    }

    /// The first slot whose object was created after a change number.
    ///
    /// - Complexity: O(log n); numbers are spread about evenly over slots, so the first looks go where
    ///   that would lead.
    func firstSlot(createdAfter creation: ChangeNumber) -> Int {
        var (low, high) = (0, count)
        // Mostly asked for an object that is new.
        if high > 0, self[high - 1].creation <= creation { return high }
        var aimedLooks = 4
        while low < high {
            var middle = (low + high) / 2
            if aimedLooks > 0 {
                let (first, last) = (self[low].creation, self[high - 1].creation)
                if creation < first { return low }
                if creation >= last { return high }
                let share = Double(creation - first) / Double(last - first)
                middle = low + Int(share * Double(high - low - 1))
                aimedLooks -= 1
            }
            if self[middle].creation <= creation { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
