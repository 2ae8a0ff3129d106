import Objects

/// One sort key of an order.
public struct OrderKey: Sendable, Hashable {
    /// What an order compares.
    public enum Source: Sendable, Hashable {
        /// The value at a path; values of different types are ordered by type.
        case field(FieldPath)
        /// `_calculated.<name>`: the distance that a clause puts under this name.
        case distance(name: String)
    }

    /// What objects are compared by.
    public var source: Source
    /// Whether large values come first; objects without a value are last in both directions.
    public var descending: Bool

    /// A key that is ascending unless stated otherwise.
    public init(_ source: Source, descending: Bool = false) {
        self.source = source
        self.descending = descending
    }
}

/// A query of a bucket: which objects, in which order, how many, and which of their fields.
public struct Query: Sendable, Hashable {
    /// What objects have to satisfy.
    public var clause: Clause
    /// Empty: by creation.
    public var order: [OrderKey]
    /// Objects of one page; nil means the service's limit.
    public var limit: Int?
    /// First-level names to return besides `_id` and `_calculated`; nil means the whole object.
    public var fields: [[UInt8]]?
    /// The requested figures; if empty, the objects themselves are returned.
    public var aggregations: [Aggregation]
    /// The opaque key that a page ended with.
    public var paginationKey: String?

    /// A query of every object in the order of creation, unless stated otherwise.
    public init(
        clause: Clause = .all, order: [OrderKey] = [], limit: Int? = nil,
        fields: [[UInt8]]? = nil, aggregations: [Aggregation] = [], paginationKey: String? = nil
    ) {
        self.clause = clause
        self.order = order
        self.limit = limit
        self.fields = fields
        self.aggregations = aggregations
        self.paginationKey = paginationKey
    }
}
