import Objects
import SpatialIndex

/// The columns of a bucket: those that answer, and those that wait to be filled.
struct ColumnSet: Sendable {
    private(set) var entries: [FieldPath: Entry] = [:]

    struct Entry: Sendable {
        var column: Column
        /// Whether every slot has its value.
        var isReady = false
        var index: OrderedIndex?
        let use = ColumnUse()

        var memoryBytes: Int { column.memoryBytes + (index?.memoryBytes ?? 0) }
    }

    var isEmpty: Bool { entries.isEmpty }

    var memoryBytes: Int { entries.values.reduce(0) { $0 + $1.memoryBytes } }

    /// The column of a path, when it can answer.
    func ready(_ field: FieldPath) -> Column? {
        guard let entry = entries[field], entry.isReady else { return nil }
        entry.use.touch()
        return entry.column.unknown == 0 ? entry.column : nil
    }

    /// The order of a column, when it can answer and has one.
    func index(_ field: FieldPath) -> (OrderedIndex, Column)? {
        guard let column = ready(field), let index = entries[field]!.index else { return nil }
        return (index, column)
    }

    // MARK: The writer's side

    /// Makes a column that waits to be filled; nil where there is one already.
    mutating func add(
        _ field: FieldPath, slots: Int, holes: some Sequence<Slot>
    ) -> ColumnWorks.Filling? {
        guard entries[field] == nil else { return nil }
        var entry = Entry(column: Column(slots: slots))
        for slot in holes { entry.column.set(slot, to: Cell.missing) }
        entries[field] = entry
        return ColumnWorks.Filling(field: field, use: entry.use)
    }

    mutating func remove(_ field: FieldPath) { entries[field] = nil }

    /// Puts a value in a column, and its slot in that column's order.
    mutating func set(_ slot: Slot, to value: ColumnValue, in field: FieldPath) {
        entries[field]?.set(slot, to: value)
    }

    /// Takes a slot's values away: its object is gone.
    mutating func clear(_ slot: Slot) {
        for field in entries.keys { entries[field]!.clear(slot) }
    }

    /// Puts a value in a column whose slot still waits for one.
    mutating func fill(_ slot: Slot, with value: ColumnValue, in filling: ColumnWorks.Filling) {
        entries[filling.field]?.fill(slot, with: value, filling.use)
    }

    /// The columns of some slots, ascending, which get the numbers from 0 on; without their orders.
    func keeping(_ slots: [Slot]) -> ColumnSet {
        var kept = self
        for field in entries.keys { kept.entries[field]!.keep(slots) }
        return kept
    }

    /// Ends the filling of a column; false where it has to be given up.
    mutating func finish(_ filling: ColumnWorks.Filling) -> Bool {
        guard entries[filling.field]?.use === filling.use else { return true }
        entries[filling.field]!.isReady = true
        return entries[filling.field]!.column.unknown == 0
    }

    /// Gives a column an order that was made of an earlier state of it.
    mutating func install(
        _ index: OrderedIndex, madeOf old: Column, in filling: ColumnWorks.Filling,
        isAlive: (Slot) -> Bool
    ) {
        guard entries[filling.field]?.use === filling.use else { return }
        entries[filling.field]!.install(index, madeOf: old, isAlive)
    }
}

extension ColumnSet.Entry {
    fileprivate mutating func set(_ slot: Slot, to value: ColumnValue) {
        let isNew = Int(slot) >= column.slotCount
        let old = isNew ? Cell.missing : column.cell(of: slot)
        column.set(slot, to: value)
        let cell = column.cell(of: slot)
        guard index != nil, isNew || old != cell else { return }
        if !isNew { index!.remove(slot, old, in: column) }
        index!.insert(slot, cell, in: column)
    }

    fileprivate mutating func fill(_ slot: Slot, with value: ColumnValue, _ use: ColumnUse) {
        guard self.use === use, Int(slot) < column.slotCount, column.cell(of: slot) == .unknown
        else { return }
        set(slot, to: value)
    }

    fileprivate mutating func clear(_ slot: Slot) {
        guard Int(slot) < column.slotCount else { return }
        index?.remove(slot, column.cell(of: slot), in: column)
        column.set(slot, to: Cell.missing)
    }

    fileprivate mutating func keep(_ slots: [Slot]) {
        column.keep(slots)
        // An empty order is made at once, another beside the writer when it is wanted again.
        index = slots.isEmpty && index != nil ? OrderedIndex(column) { _ in true } : nil
    }

    fileprivate mutating func install(
        _ made: OrderedIndex, madeOf old: Column, _ isAlive: (Slot) -> Bool
    ) {
        var made = made
        for slot in 0..<Slot(column.slotCount) {
            let cell = column.cell(of: slot)
            let before = Int(slot) < old.slotCount ? old.cell(of: slot) : nil
            if isAlive(slot), before == cell { continue }
            if let before { made.remove(slot, before, in: column) }
            if isAlive(slot) { made.insert(slot, cell, in: column) }
        }
        index = made
    }
}
