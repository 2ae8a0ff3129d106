import SpatialIndex

/// The slots of a column in the order of their values.
///
/// A packed list, made in one go, and beside it what has changed since: a bit for each slot whose
/// place in the list is no longer its own, and a short list of their new places. When that grows
/// long, both become a new list.
///
/// - Complexity: a look-up O(log n); a write O(sqrt n) amortised; twelve bytes a slot.
/// - Note: Whoever changes a column's cell calls `remove` with the old one and `insert` with the new.
struct OrderedIndex: Sendable {
    private(set) var base: SortedSlots
    private(set) var delta = SortedSlots()
    /// A bit for each slot that is to be passed over in `base`; slots behind the end are.
    private var left = PersistentArray<UInt64>()

    /// - Complexity: O(n log n).
    init(_ column: Column, isAlive: (Slot) -> Bool) {
        base = SortedSlots(column, isAlive: isAlive)
        markPlaced(slotCount: column.slotCount)
    }

    /// What the index occupies, in bytes.
    var memoryBytes: Int { base.memoryBytes + delta.memoryBytes + left.count * 8 }

    /// Whether a slot's place in `base` is its own.
    func isPlaced(_ slot: Slot) -> Bool {
        let word = Int(slot) >> 6
        return word < left.count && left[word] >> UInt64(slot & 63) & 1 == 0
    }

    mutating func remove(_ slot: Slot, _ cell: Cell, in column: Column) {
        if isPlaced(slot) {
            left[Int(slot) >> 6] |= 1 << UInt64(slot & 63)
        } else {
            delta.remove(slot, cell, in: column)
        }
    }

    mutating func insert(_ slot: Slot, _ cell: Cell, in column: Column) {
        delta.insert(slot, cell, in: column)
        if delta.count * delta.count > 16 * max(base.count, 4_096) { merge(column) }
    }

    private mutating func merge(_ column: Column) {
        var merged = SortedSlots()
        merged.reserve(base.count + delta.count)
        var next = 0
        func take(to end: Int) {
            for place in next..<max(next, end) where isPlaced(base.slots[place]) {
                merged.append(base.slots[place], base.cells[place])
            }
            next = max(next, end)
        }
        for (slot, cell) in zip(delta.slots, delta.cells) {
            take(to: base.place(of: slot, cell, in: column))
            merged.append(slot, cell)
        }
        take(to: base.count)
        (base, delta) = (merged, SortedSlots())
        markPlaced(slotCount: column.slotCount)
    }

    private mutating func markPlaced(slotCount: Int) {
        left = PersistentArray()
        left.resize(to: (slotCount + 63) / 64, repeating: .max)
        for slot in base.slots { left[Int(slot) >> 6] &= ~(1 << UInt64(slot & 63)) }
    }
}
