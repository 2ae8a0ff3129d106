import Objects
import PersistentStructures

/// The columns of a bucket. Each covers all slots of the bucket.
package struct ColumnSet: Sendable {
    /// The columns by the paths of their fields.
    package private(set) var entries: [FieldPath: Entry] = [:]

    /// A set without columns.
    package init() {}

    /// A column, its order if it has one, and a record of its use.
    package struct Entry: Sendable {
        /// The values of the field in all slots.
        package var column: Column
        /// The slots in the order of the column's values; nil if no order has been built.
        package var index: OrderedIndex?
        /// Whether the column has answered queries recently.
        package let use = ColumnUse()

        /// The memory of the column and its order, in bytes; O(1).
        package var memoryBytes: Int { column.memoryBytes + (index?.memoryBytes ?? 0) }
    }

    /// Whether the bucket has no columns at all.
    package var isEmpty: Bool { entries.isEmpty }

    /// The memory of the columns and their orders, in bytes; O(columns).
    package var memoryBytes: Int { entries.values.reduce(0) { $0 + $1.memoryBytes } }

    /// The column of a path; nil if it does not exist or is not complete.
    package func ready(_ field: FieldPath) -> Column? {
        guard let entry = entries[field] else { return nil }
        entry.use.touch()
        return entry.column.unknown == 0 ? entry.column : nil
    }

    /// The order of a column; nil if the column is not complete or has no order.
    package func index(_ field: FieldPath) -> (OrderedIndex, Column)? {
        guard let column = ready(field), let index = entries[field]!.index else { return nil }
        return (index, column)
    }

    // MARK: For the writer

    /// Adds a column of all slots. The field must not have a column yet.
    package mutating func add(_ column: Column, of field: FieldPath) {
        precondition(entries[field] == nil, "a second column of \(field.text)")
        entries[field] = Entry(column: column)
    }

    /// Removes a column and its order, if they exist.
    package mutating func remove(_ field: FieldPath) { entries[field] = nil }

    /// Sets a slot's values in all columns, and updates the columns' orders.
    package mutating func set(_ slot: Slot, to value: (FieldPath) -> ColumnValue) {
        forEachEntry { field, entry in entry.change(slot) { $0.set(slot, to: value(field)) } }
    }

    /// Clears a slot's values after its object has been deleted.
    package mutating func clear(_ slot: Slot) { forEachEntry { $1.clear(slot) } }

    /// Changes all entries in place: a loop over the table would hold a copy of it meanwhile, and
    /// the first change would copy every entry.
    private mutating func forEachEntry(_ body: (FieldPath, inout Entry) -> Void) {
        var index = entries.startIndex
        while index != entries.endIndex {
            let field = entries.keys[index]
            body(field, &entries.values[index])
            entries.formIndex(after: &index)
        }
    }

    /// Installs an order for the present values of a column.
    package mutating func install(_ index: OrderedIndex, of field: FieldPath) {
        entries[field]?.index = index
    }

    // MARK: Renumbering

    /// The same columns without slots. Columns with an order get an empty order.
    package var emptied: ColumnSet {
        var emptied = self
        for field in entries.keys {
            emptied.entries[field]!.column = Column(slots: 0)
            emptied.entries[field]!.index = entries[field]!.index.map { _ in OrderedIndex() }
        }
        return emptied
    }

    /// The columns and orders of some slots in ascending order, renumbered from 0.
    ///
    /// - Complexity: O(slots) a column.
    package func renumbered(_ slots: [Slot]) -> ColumnSet {
        var renumbered = self
        for (field, entry) in entries {
            let column = entry.column.renumbered(slots)
            renumbered.entries[field]!.column = column
            renumbered.entries[field]!.index = entry.index.map {
                $0.renumbered(slots, from: entry.column, to: column)
            }
        }
        return renumbered
    }

    /// Copies the values of a slot in another set. Columns that are missing in either set are
    /// skipped.
    package mutating func adopt(_ slot: Slot, from other: ColumnSet, _ source: Slot) {
        forEachEntry { field, entry in
            guard let column = other.entries[field]?.column else { return }
            entry.change(slot) { $0.set(slot, from: column, source) }
        }
    }

    /// Removes the columns that another set of the same bucket does not have or has rebuilt.
    package mutating func keepOnly(_ other: ColumnSet) {
        entries = entries.filter { other.entries[$0.key]?.use === $0.value.use }
    }
}

extension ColumnSet.Entry {
    /// Changes a slot's value in the column and its place in the order.
    fileprivate mutating func change(_ slot: Slot, _ body: (inout Column) -> Void) {
        let isNew = Int(slot) >= column.slotCount
        let old = isNew ? Cell.missing : column.cell(of: slot)
        body(&column)
        let cell = column.cell(of: slot)
        guard index != nil, isNew || old != cell else { return }
        if !isNew { index!.remove(slot, old, in: column) }
        index!.insert(slot, cell, in: column)
    }

    fileprivate mutating func clear(_ slot: Slot) {
        guard Int(slot) < column.slotCount else { return }
        index?.remove(slot, column.cell(of: slot), in: column)
        column.set(slot, to: Cell.missing)
    }
}
