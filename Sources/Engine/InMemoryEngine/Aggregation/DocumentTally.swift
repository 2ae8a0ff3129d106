import JSONText
import Objects
import QueryLanguage

/// The values of one field in documents: the counterpart of `ColumnTally` for a field without a
/// column.
struct DocumentTally: Sendable {
    let field: FieldPath
    /// Whether values are told apart.
    private let isGrouped: Bool
    private(set) var numbers = NumberSummary()
    /// The number of objects with each value, if values are told apart.
    private(set) var values: [SortKey: Int] = [:]
    /// The objects without the field or with null.
    private(set) var absent = 0
    /// The objects with a GeoPoint, an array or another object.
    private(set) var ungroupable = 0
    /// The bytes of the distinct values; see `Aggregation.valueBytes`.
    private(set) var valueBytes = 0

    /// A tally of no documents.
    init(_ field: FieldPath, isGrouped: Bool) {
        self.field = field
        self.isGrouped = isGrouped
    }

    /// Adds the value of one object.
    mutating func add(_ object: JSONView) {
        let value = field.value(in: object)
        if let number = value?.number { numbers.add(number) }
        guard isGrouped else { return }
        switch value?.kind {
        case nil, .null: absent += 1
        case .bool, .number, .string: count(value!)
        case .array, .object, .huge: ungroupable += 1
        }
    }

    private mutating func count(_ value: JSONView) {
        var key = SortKey()
        key.append(SortValue(value), descending: false)
        let known = values.count
        values[key, default: 0] += 1
        if values.count > known { valueBytes += Aggregation.valueBytes + (value.utf8?.count ?? 0) }
    }
}
