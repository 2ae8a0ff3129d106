import PlainJSON

/// The values of a field that most objects have.
public struct ValueGroups: Sendable, Equatable {
    /// A value, and how many objects have it.
    public struct Group: Sendable, Equatable {
        /// A string, a number or a boolean.
        public let value: JSONValue
        /// The number of objects whose field has the value.
        public let count: Int
    }

    /// The values, by their counts, and of equal counts in the order of values.
    public let groups: [Group]
    /// How many objects have a value that is not among the groups, or one that objects are not
    /// grouped by, such as an array.
    public let other: Int
    /// How many objects have no value, or null.
    public let without: Int

    fileprivate init(_ answer: JSONValue) throws {
        groups = try (answer["values"]?.array ?? []).map {
            Group(value: try $0.member("value"), count: try $0.member("count"))
        }
        other = try answer.member("other")
        without = try answer.member("without")
    }
}

extension Bucket {
    /// The values that a field has in the objects that match the query, and how many have each.
    ///
    ///     for group in try await shops.groups(by: "kind").groups {
    ///         print(group.value.text, group.count)
    ///     }
    ///
    /// - Parameters:
    ///   - limit: the most values to return, up to 1,000.
    ///   - query: its order, limit and fields are of no account.
    public func groups(
        by field: String, limit: Int = 50, matching query: BucketQuery = BucketQuery()
    ) async throws -> ValueGroups {
        try await aggregate("GROUP", field, [.init("limit", .int(limit))], query) {
            try ValueGroups($0)
        }
    }

    /// The least number that a field has in the objects that match the query, exactly; nil if none has
    /// one.
    public func minimum(
        of field: String, matching query: BucketQuery = BucketQuery()
    ) async throws -> JSONValue? {
        try await aggregate("MIN", field, [], query, Self.number)
    }

    /// The greatest number that a field has in the objects that match the query, exactly; nil if none
    /// has one.
    public func maximum(
        of field: String, matching query: BucketQuery = BucketQuery()
    ) async throws -> JSONValue? {
        try await aggregate("MAX", field, [], query, Self.number)
    }

    /// The sum of a field's numbers in the objects that match the query; nil if there are none.
    ///
    /// A sum of whole numbers has all its digits. Any other is the nearest binary64.
    public func sum(
        of field: String, matching query: BucketQuery = BucketQuery()
    ) async throws -> JSONValue? {
        try await aggregate("SUM", field, [], query, Self.number)
    }

    /// The average of a field's numbers in the objects that match the query; nil if there are none.
    public func average(
        of field: String, matching query: BucketQuery = BucketQuery()
    ) async throws -> Double? {
        try await aggregate("AVG", field, [], query, Self.number)?.double
    }

    private static func number(_ value: JSONValue) -> JSONValue? { value == .null ? nil : value }

    private func aggregate<Result>(
        _ type: String, _ field: String, _ more: [JSONValue.Member], _ query: BucketQuery,
        _ body: (JSONValue) throws -> Result
    ) async throws -> Result {
        let name = "result"
        let aggregation: [JSONValue.Member] =
            [
                .init("type", .string(type)), .init("field", .string(field)),
                .init("putAggregationInto", .string(name)),
            ] + more
        let document = JSONValue.object([
            "clause": query.clause.json, "aggregations": .array([.object(aggregation)]),
        ])
        return try await read(.query, [.init("bucketQuery", document)]) { answer in
            let results: JSONValue = try JSONValue(answer).member("aggregations")
            return try body(try results.member(name))
        }
    }
}
