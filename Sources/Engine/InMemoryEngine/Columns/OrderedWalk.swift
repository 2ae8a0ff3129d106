import PersistentStructures
import QueryLanguage

/// Iterates over the slots of an ordered index: by value ascending or descending, equal values by
/// ascending slot, and slots without a value last in both directions.
///
/// It proceeds group by group. A group is the set of slots with one value.
package struct OrderedWalk {
    private let index: OrderedIndex
    private let column: Column
    private let end: WalkEnd
    private var base: Run
    private var delta: Run
    /// The places without a value, if they follow a descending walk.
    private var last: (base: Range<Int>, delta: Range<Int>)?

    /// The part of a list that remains to be walked, and the current group.
    private struct Run {
        let list: SortedSlots
        var rest: Range<Int>
        var group = 0..<0

        func edge(_ end: WalkEnd) -> Cell? {
            guard !rest.isEmpty else { return nil }
            return list.cells[end == .low ? rest.lowerBound : rest.upperBound - 1]
        }

        var first: Slot? { group.isEmpty ? nil : list.slots[group.lowerBound] }

        mutating func removeFirst() { group = group.lowerBound + 1..<group.upperBound }

        /// Skips the slots of the group below a slot.
        mutating func drop(below slot: Int) {
            group = group.firstPosition { Int(list.slots[$0]) < slot }..<group.upperBound
        }

        /// Makes the group at the given end the current one.
        mutating func begin(_ end: WalkEnd, _ column: Column) {
            group = list.group(at: end, of: rest, in: column)
            rest =
                end == .low
                ? group.upperBound..<rest.upperBound : rest.lowerBound..<group.lowerBound
        }
    }

    /// - Parameters:
    ///   - range: the values to walk; nil for all values, missing ones included.
    ///   - after: the value and slot after which the walk begins.
    package init(
        _ index: OrderedIndex, _ column: Column, descending: Bool = false,
        range: ColumnRange? = nil, after: (value: SortValue, slot: Int)? = nil
    ) {
        self.index = index
        self.column = column
        end = descending ? .high : .low
        base = Run(list: index.base, rest: 0..<index.base.count)
        delta = Run(list: index.delta, rest: 0..<index.delta.count)
        if let range {
            cut(from: range.lower)
            cut(to: range.upper)
        } else if descending {
            let whole = (base.rest, delta.rest)
            cut(to: ColumnBound(.missing, behind: false))
            last = (
                base.rest.upperBound..<whole.0.upperBound,
                delta.rest.upperBound..<whole.1.upperBound
            )
        }
        if let after { skip(behind: after.value, after.slot) }
    }

    /// The approximate number of slots that are left.
    package var count: Int { base.rest.count + delta.rest.count + (last?.base.count ?? 0) }

    /// Writes the next slots to a buffer and returns their number. It fills the buffer except at
    /// the end of the walk.
    package mutating func next(into slots: Slots) -> Int {
        var count = 0
        while count < slots.count, let slot = next() {
            slots[count] = slot
            count += 1
        }
        return count
    }

    /// Appends all remaining slots.
    package mutating func appendRest(to slots: inout [Slot]) {
        while let slot = next() { slots.append(slot) }
    }

    mutating func next() -> Slot? {
        while true {
            while let slot = base.first, !index.isListed(slot) { base.removeFirst() }
            switch (base.first, delta.first) {
            case (let slot?, let other?) where other < slot:
                delta.removeFirst()
                return other
            case (let slot?, _):
                base.removeFirst()
                return slot
            case (nil, let other?):
                delta.removeFirst()
                return other
            case (nil, nil):
                guard beginGroup() else { return nil }
            }
        }
    }

    private mutating func beginGroup() -> Bool {
        if base.rest.isEmpty, delta.rest.isEmpty, let last {
            (base.rest, delta.rest) = last
            self.last = nil
        }
        switch (base.edge(end), delta.edge(end)) {
        case (nil, nil): return false
        case (_?, nil): base.begin(end, column)
        case (nil, _?): delta.begin(end, column)
        case (let a?, let b?):
            let order = end == .low ? column.order(a, b) : column.order(b, a)
            if order <= 0 { base.begin(end, column) }
            if order >= 0 { delta.begin(end, column) }
        }
        return true
    }

    private mutating func cut(from bound: ColumnBound) {
        base.rest = base.rest.clamped(
            to: base.list.firstPosition(behind: bound, in: column)..<base.list.count)
        delta.rest = delta.rest.clamped(
            to: delta.list.firstPosition(behind: bound, in: column)..<delta.list.count)
    }

    private mutating func cut(to bound: ColumnBound) {
        base.rest = base.rest.clamped(to: 0..<base.list.firstPosition(behind: bound, in: column))
        delta.rest = delta.rest.clamped(to: 0..<delta.list.firstPosition(behind: bound, in: column))
    }

    /// Begins after a slot with a value, even if the slot no longer has that value.
    private mutating func skip(behind value: SortValue, _ slot: Int) {
        if end == .low {
            cut(from: ColumnBound(value, behind: false))
        } else if value == .missing {
            (base.rest, delta.rest) = last ?? (base.rest, delta.rest)
            last = nil
        } else {
            cut(to: ColumnBound(value, behind: true))
        }
        guard beginGroup() else { return }
        // A group with another value has not been started, so none of its slots is skipped.
        let isOf = { [column] (run: Run) in
            !run.group.isEmpty && column.order(run.list.cells[run.group.lowerBound], value) == 0
        }
        if isOf(base) { base.drop(below: slot) }
        if isOf(delta) { delta.drop(below: slot) }
    }
}
