import Objects
import PersistentStructures

/// The columns of a bucket, each of all its slots.
package struct ColumnSet: Sendable {
    /// The columns by the paths of their fields.
    package private(set) var entries: [FieldPath: Entry] = [:]

    /// No columns.
    package init() {}

    /// A column, its order if it has one, and whether they are used.
    package struct Entry: Sendable {
        /// The values of the field in all slots.
        package var column: Column
        /// The slots in the order of the column's values; nil if none has been made.
        package var index: OrderedIndex?
        /// Whether the column has answered queries of late.
        package let use = ColumnUse()

        /// What the column and its order occupy, in bytes; O(1).
        package var memoryBytes: Int { column.memoryBytes + (index?.memoryBytes ?? 0) }
    }

    /// Whether the bucket has no columns at all.
    package var isEmpty: Bool { entries.isEmpty }

    /// What the columns and their orders occupy, in bytes; O(columns).
    package var memoryBytes: Int { entries.values.reduce(0) { $0 + $1.memoryBytes } }

    /// The column of a path, when it can answer.
    package func ready(_ field: FieldPath) -> Column? {
        guard let entry = entries[field] else { return nil }
        entry.use.touch()
        return entry.column.unknown == 0 ? entry.column : nil
    }

    /// The order of a column, when it can answer and has one.
    package func index(_ field: FieldPath) -> (OrderedIndex, Column)? {
        guard let column = ready(field), let index = entries[field]!.index else { return nil }
        return (index, column)
    }

    // MARK: The writer's side

    /// Adds a column of all slots, in the place of none.
    package mutating func add(_ column: Column, of field: FieldPath) {
        precondition(entries[field] == nil, "a second column of \(field.text)")
        entries[field] = Entry(column: column)
    }

    /// Removes a column and its order; nothing happens if there is none.
    package mutating func remove(_ field: FieldPath) { entries[field] = nil }

    /// Puts a value in a column, and its slot in that column's order.
    package mutating func set(_ slot: Slot, to value: ColumnValue, in field: FieldPath) {
        entries[field]?.change(slot) { $0.set(slot, to: value) }
    }

    /// Takes a slot's values away: its object is gone.
    package mutating func clear(_ slot: Slot) {
        for field in entries.keys { entries[field]!.clear(slot) }
    }

    /// Gives a column an order of its present values.
    package mutating func install(_ index: OrderedIndex, of field: FieldPath) {
        entries[field]?.index = index
    }

    // MARK: Other numbers of slots

    /// The columns of a bucket without slots; those with an order have an empty one.
    package var emptied: ColumnSet {
        var emptied = self
        for field in entries.keys {
            emptied.entries[field]!.column = Column(slots: 0)
            emptied.entries[field]!.index = entries[field]!.index.map { _ in OrderedIndex() }
        }
        return emptied
    }

    /// The columns and orders of some slots, ascending, which get the numbers from 0 on.
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

    /// Gives a slot the values that another has in another set; columns that this one lacks are
    /// passed over.
    package mutating func adopt(_ slot: Slot, from other: ColumnSet, _ source: Slot) {
        for field in entries.keys {
            guard let column = other.entries[field]?.column else { continue }
            entries[field]!.change(slot) { $0.set(slot, from: column, source) }
        }
    }

    /// Gives up the columns that another set of the same bucket has not, or has made anew.
    package mutating func keepOnly(_ other: ColumnSet) {
        entries = entries.filter { other.entries[$0.key]?.use === $0.value.use }
    }
}

extension ColumnSet.Entry {
    /// Changes a slot's value in the column, and its place in the order.
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
