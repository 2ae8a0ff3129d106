import PersistentStructures

/// The slots of a column in the order of their values.
///
/// A packed list, made in one go, and beside it what has changed since: a bit for each slot whose
/// place in the list is no longer its own, and a short list of their new places. When that has grown
/// long the index is worn: `merged` makes a new list of both, in the background.
///
/// - Complexity: a look-up O(log n); a write O(sqrt n); twelve bytes a slot.
/// - Note: Whoever changes a column's cell calls `remove` with the old one and `insert` with the new.
package struct OrderedIndex: Sendable {
    private(set) var base: SortedSlots
    private(set) var delta = SortedSlots()
    /// A bit for each slot that is to be passed over in `base`; slots behind the end are.
    private var left = PersistentArray<UInt64>()

    /// An index without slots.
    init() { base = SortedSlots() }

    /// - Complexity: O(n log n).
    package init(_ column: Column, isAlive: (Slot) -> Bool) {
        base = SortedSlots(column, isAlive: isAlive)
        markListed(slotCount: column.slotCount)
    }

    /// What the index occupies, in bytes.
    var memoryBytes: Int { base.memoryBytes + delta.memoryBytes + left.count * 8 }

    /// Whether a slot's place in `base` is its own.
    func isListed(_ slot: Slot) -> Bool {
        let word = Int(slot) >> 6
        return word < left.count && left[word] >> UInt64(slot & 63) & 1 == 0
    }

    /// Takes a slot out before its cell changes.
    ///
    /// - Parameter cell: the slot's cell until now.
    package mutating func remove(_ slot: Slot, _ cell: Cell, in column: Column) {
        if isListed(slot) {
            left[Int(slot) >> 6] |= 1 << UInt64(slot & 63)
        } else {
            delta.remove(slot, cell, in: column)
        }
    }

    /// Takes a slot in whose cell has changed.
    ///
    /// - Parameter cell: the slot's new cell.
    package mutating func insert(_ slot: Slot, _ cell: Cell, in column: Column) {
        delta.insert(slot, cell, in: column)
        // Made in the background long before, unless that falls far behind.
        if delta.count > 8 * wornCount { self = merged(column) }
    }

    /// Whether the list of changes has grown so long that writes and look-ups gain by `merged`.
    package var isWorn: Bool { delta.count > wornCount }

    private var wornCount: Int { Int((16 * Double(max(base.count, 4_096))).squareRoot()) }

    /// The same order as one list.
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

    /// The same order of slots that get other numbers, in the same succession, from 0 on.
    ///
    /// - Parameters:
    ///   - slots: those that are kept, all that the index has among them.
    ///   - column: the one that this is the order of.
    ///   - other: the same values under the new numbers.
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
