import PersistentStructures
import QueryLanguage

/// The slots of an ordered index one by one: by value up or down, equal values by slot upwards, and
/// those without a value last in both directions.
///
/// It goes group by group, a group being the slots of one value.
package struct OrderedWalk {
    private let index: OrderedIndex
    private let column: Column
    private let end: WalkEnd
    private var base: Run
    private var delta: Run
    /// The places without a value, when they come after a walk downwards.
    private var last: (base: Range<Int>, delta: Range<Int>)?

    /// A range of a list that is still to be walked, and the group that is under way.
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

        /// Passes over the slots of the group that are less.
        mutating func drop(below slot: Int) {
            group = group.firstPosition { Int(list.slots[$0]) < slot }..<group.upperBound
        }

        /// Makes the group at the edge the one under way.
        mutating func begin(_ end: WalkEnd, _ column: Column) {
            group = list.group(at: end, of: rest, in: column)
            rest =
                end == .low
                ? group.upperBound..<rest.upperBound : rest.lowerBound..<group.lowerBound
        }
    }

    /// - Parameters:
    ///   - range: the values to be walked; nil is all, missing ones included.
    ///   - after: the value and slot behind which to begin.
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

    /// About how many slots are left.
    package var count: Int { base.rest.count + delta.rest.count + (last?.base.count ?? 0) }

    /// Writes the next slots to a buffer, and says how many they are: fewer than fit at the end of the
    /// walk only.
    package mutating func next(into slots: Slots) -> Int {
        var count = 0
        while count < slots.count, let slot = next() {
            slots[count] = slot
            count += 1
        }
        return count
    }

    /// Appends all slots that are left.
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

    /// Begins behind a slot of some value, whether it still has that or not.
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
        // Of a group with another value, which has not been begun yet, nothing is passed over.
        let isOf = { [column] (run: Run) in
            !run.group.isEmpty && column.order(run.list.cells[run.group.lowerBound], value) == 0
        }
        if isOf(base) { base.drop(below: slot) }
        if isOf(delta) { delta.drop(below: slot) }
    }
}
