import PersistentStructures

/// The slots of a column in the order of their values.
///
/// The index is a packed list with a record of later changes: a bit for each slot whose place in
/// the list is outdated, and a short list of the new places. When that list has grown long, the
/// index is worn, and a background job combines both into a new list with `merged`.
///
/// - Complexity: a lookup is O(log n); a write is O(sqrt n); twelve bytes a slot.
/// - Note: a caller that changes a column's cell must call `remove` with the old cell and `insert`
///   with the new one.
package struct OrderedIndex: Sendable {
    private(set) var base: SortedSlots
    private(set) var delta = SortedSlots()
    /// A bit for each slot that has to be skipped in `base`. Slots after the end are skipped too.
    private var left = PersistentArray<UInt64>()

    /// An index without slots.
    init() { base = SortedSlots() }

    /// - Complexity: O(n log n).
    package init(_ column: Column, isAlive: (Slot) -> Bool) {
        base = SortedSlots(column, isAlive: isAlive)
        markListed(slotCount: column.slotCount)
    }

    /// The memory of the index, in bytes.
    var memoryBytes: Int { base.memoryBytes + delta.memoryBytes + left.count * 8 }

    /// Whether a slot's place in `base` is current.
    func isListed(_ slot: Slot) -> Bool {
        let word = Int(slot) >> 6
        return word < left.count && left[word] >> UInt64(slot & 63) & 1 == 0
    }

    /// Removes a slot before its cell changes.
    ///
    /// - Parameter cell: the slot's old cell.
    package mutating func remove(_ slot: Slot, _ cell: Cell, in column: Column) {
        if isListed(slot) {
            left[Int(slot) >> 6] |= 1 << UInt64(slot & 63)
        } else {
            delta.remove(slot, cell, in: column)
        }
    }

    /// Inserts a slot after its cell has changed.
    ///
    /// - Parameter cell: the slot's new cell.
    package mutating func insert(_ slot: Slot, _ cell: Cell, in column: Column) {
        delta.insert(slot, cell, in: column)
        // A background job normally merges much earlier. This runs only if the job falls far
        // behind.
        if delta.count > 8 * wornCount { self = merged(column) }
    }

    /// Whether the list of changes is so long that `merged` would make writes and lookups faster.
    package var isWorn: Bool { delta.count > wornCount }

    private var wornCount: Int { Int((16 * Double(max(base.count, 4_096))).squareRoot()) }

    /// The same order as one packed list.
    ///
    /// - Complexity: O(n).
    package func merged(_ column: Column) -> OrderedIndex {
        var list = SortedSlots()
        list.reserve(base.count + delta.count)
        var next = 0
        func take(to end: Int) {
            for position in next..<max(next, end) where isListed(base.slots[position]) {
                list.append(base.slots[position], base.cells[position])
            }
            next = max(next, end)
        }
        for (slot, cell) in zip(delta.slots, delta.cells) {
            take(to: base.position(of: slot, cell, in: column))
            list.append(slot, cell)
        }
        take(to: base.count)
        return OrderedIndex(list, slotCount: column.slotCount)
    }

    /// The same order for slots that are renumbered from 0 in ascending order.
    ///
    /// - Parameters:
    ///   - slots: the slots to keep. They include every slot of the index.
    ///   - column: the column of this order.
    ///   - other: the same values under the new slot numbers.
    /// - Complexity: O(n).
    func renumbered(_ slots: [Slot], from column: Column, to other: Column) -> OrderedIndex {
        var numbers = [Slot](repeating: 0, count: column.slotCount)
        for (number, slot) in slots.enumerated() { numbers[Int(slot)] = Slot(number) }
        var list = SortedSlots()
        list.reserve(base.count + delta.count)
        for slot in merged(column).base.slots {
            let number = numbers[Int(slot)]
            list.append(number, other.cell(of: number))
        }
        return OrderedIndex(list, slotCount: other.slotCount)
    }

    private init(_ list: SortedSlots, slotCount: Int) {
        base = list
        markListed(slotCount: slotCount)
    }

    private mutating func markListed(slotCount: Int) {
        left = PersistentArray()
        left.resize(to: (slotCount + 63) / 64, repeating: .max)
        for slot in base.slots { left[Int(slot) >> 6] &= ~(1 << UInt64(slot & 63)) }
    }
}
