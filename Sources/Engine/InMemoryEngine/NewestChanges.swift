import BackendContract
import PersistentStructures

/// The newest change of each block of slots, so that what has changed is found without a look at
/// every object.
struct NewestChanges: Sendable {
    /// Of all blocks but the first, which is always looked at: a small bucket needs no memory here.
    private var others = PersistentArray<ChangeNumber>()

    /// The number of slots of a block; a chunk of a persistent array has as many elements.
    static let slotsPerBlock = 256

    var memoryBytes: Int { others.memoryBytes }

    /// Notes that a slot's object has changed.
    mutating func note(_ change: ChangeNumber, of slot: Slot) {
        let other = Int(slot) / Self.slotsPerBlock - 1
        guard other >= 0 else { return }
        if other >= others.count || others[other] < change {
            others.set(other, change, fillingWith: 0)
        }
    }

    /// The blocks of slots in which objects may have changed after a change number, in ascending
    /// order.
    ///
    /// - Complexity: O(slots / 256).
    func blocks(changedAfter change: ChangeNumber, of slotCount: Int) -> [Range<Int>] {
        let changed = others.indices.filter { others[$0] > change }.map { $0 + 1 }
        return ([0] + changed).map { block in
            let first = block * Self.slotsPerBlock
            return first..<min(first + Self.slotsPerBlock, slotCount)
        }
    }
}
