import JSONText
import QueryLanguage

/// The result of a GROUP: the values that most objects have.
///
/// - Note: `Value` stands for a value of the field: a cell of its column, or a sort key.
struct Groups<Value> {
    private var best: BestMatches<Order>
    /// The objects that have a value, or one that is not grouped.
    private var present = 0
    private var absent = 0
    private let sortValue: (Value) -> SortValue

    /// - Parameters:
    ///   - precedes: whether one value comes before another in the order of values.
    ///   - sortValue: the value that a `Value` stands for.
    private init(
        limit: Int, precedes: @escaping (Value, Value) -> Bool,
        sortValue: @escaping (Value) -> SortValue
    ) {
        best = BestMatches(Order(valuePrecedes: precedes), limit: limit, behind: nil)
        self.sortValue = sortValue
    }

    /// The value that more objects have comes first; of several such the lesser value.
    private struct Order: MatchOrder {
        let valuePrecedes: (Value, Value) -> Bool

        func precedes(_ a: Group, _ b: Group) -> Bool {
            a.count != b.count ? a.count > b.count : valuePrecedes(a.value, b.value)
        }

        func isAfter(_ match: Group, _ bound: Never) -> Bool {}

        func sort(_ matches: inout [Group]) { matches.sort(by: precedes) }
    }

    private struct Group {
        let value: Value
        let count: Int
    }

    private mutating func insert(_ value: Value, _ count: Int) {
        present += count
        best.insert(Group(value: value, count: count))
    }

    /// Appends the result, unless it becomes longer than a limit.
    ///
    /// - Returns: whether it is complete.
    mutating func write(to writer: inout JSONWriter, maximumBytes: Int) -> Bool {
        let start = writer.count
        var other = present
        writer.raw("{\"values\":[")
        for (position, group) in best.finish().enumerated() {
            other -= group.count
            writer.raw(position == 0 ? "{\"value\":" : ",{\"value\":")
            writer.value(sortValue(group.value))
            writer.key("count")
            writer.integer(group.count)
            writer.byte(UInt8(ascii: "}"))
            guard writer.count - start <= maximumBytes else { return false }
        }
        writer.raw("],\"other\":")
        writer.integer(other)
        writer.key("without")
        writer.integer(absent)
        writer.byte(UInt8(ascii: "}"))
        return writer.count - start <= maximumBytes
    }
}

extension Groups<Cell> {
    /// The groups of the objects in a column's slots.
    init(_ tally: ColumnTally, limit: Int) {
        let column = tally.column
        self.init(
            limit: limit, precedes: { column.order($0, $1) < 0 },
            sortValue: { column.sortValue($0) })
        tally.forEachCount { cell, count in
            if cell.isGroupable {
                insert(cell, count)
            } else if cell.isAbsent {
                absent += count
            } else {
                present += count
            }
        }
    }
}

extension Groups<SortKey> {
    /// The groups of objects whose documents were read.
    init(_ tally: DocumentTally, limit: Int) {
        self.init(
            limit: limit, precedes: { $0 < $1 },
            sortValue: { $0.values(descending: [false])![0] })
        for (key, count) in tally.values { insert(key, count) }
        present += tally.ungroupable
        absent = tally.absent
    }
}

extension JSONWriter {
    /// Appends a value that objects are grouped by, in its canonical spelling.
    fileprivate mutating func value(_ value: SortValue) {
        switch value {
        case .bool(let bool): self.bool(bool)
        case .number(let floor, let rest): number(JSONNumber(floor: floor, rest: rest))
        case .string(let utf8): string(utf8)
        case .null, .point, .container, .missing, .distance:
            preconditionFailure("\(value) has no group")
        }
    }
}
