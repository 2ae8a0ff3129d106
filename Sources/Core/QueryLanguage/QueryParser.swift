import Objects
import PlainJSON

/// Parses the query document of a request's params into a `Query`, or throws the first fault with
/// its path.
public struct QueryParser {
    let limits: Limits
    private let takesEmptyAnd: Bool

    /// A parser that refuses queries beyond these limits.
    ///
    /// - Parameter takesEmptyAnd: whether an `and` of no clauses is `all`, as Kii's clients write it.
    public init(limits: Limits, takesEmptyAnd: Bool = false) {
        (self.limits, self.takesEmptyAnd) = (limits, takesEmptyAnd)
    }

    /// Reads `bucketQuery`, `bestEffortLimit`, `paginationKey` and `fields`.
    public func query(from params: inout MemberReader) throws(ServiceFailure) -> Query {
        var query = try bucketQuery(from: &params)
        query.limit = try pageLimit(&params)
        query.paginationKey = try params.optionalString("paginationKey")
        query.fields = try fields(&params)
        if query.paginationKey != nil, !query.aggregations.isEmpty {
            throw ServiceFailure(
                .queryNotSupported, "an aggregation has no pages",
                at: "paginationKey")
        }
        return query
    }

    /// Reads only the clause of `bucketQuery`, for methods that ignore order and aggregations;
    /// absent, it selects everything.
    public func clause(from params: inout MemberReader) throws(ServiceFailure) -> Clause {
        guard let view = params.optional("bucketQuery") else { return .all }
        return try ServiceFailure.inside("bucketQuery", try clause(of: view))
    }

    /// Reads only the clause of a query.
    public func clause(of view: JSONView) throws(ServiceFailure) -> Clause {
        var members = try MemberReader(view)
        for ignored in ["orderBy", "descending", "aggregations"] as [StaticString] {
            _ = members.optional(ignored)
        }
        let clause = try clause(&members)
        try members.finish(as: "a query")
        return clause
    }

    private func clause(_ members: inout MemberReader) throws(ServiceFailure) -> Clause {
        var parser = ClauseParser(limits: limits)
        return try clause(&members, by: &parser)
    }

    private func clause(
        _ members: inout MemberReader, by parser: inout ClauseParser
    ) throws(ServiceFailure) -> Clause {
        guard let view = members.optional("clause") else { return .all }
        return try ServiceFailure.inside("clause", try parser.parse(view))
    }

    /// Reads `bucketQuery` and `bestEffortLimit` of a watch. Its circles may follow objects, and it
    /// has no aggregations.
    public func watchedQuery(
        from params: inout MemberReader
    ) throws(ServiceFailure) -> (query: Query, centers: [MovingCenter]) {
        var (query, centers) = (Query(), [MovingCenter]())
        if let view = params.optional("bucketQuery") {
            (query, centers) = try ServiceFailure.inside(
                "bucketQuery", try watchedQuery(view))
        }
        query.limit = try wantedObjects(&params)
        return (query, centers)
    }

    /// Reads the query of a watch.
    public func watchedQuery(
        _ view: JSONView
    ) throws(ServiceFailure) -> (query: Query, centers: [MovingCenter]) {
        var parser = ClauseParser(limits: limits, followsObjects: true)
        let query = try bucketQuery(view, by: &parser)
        guard query.aggregations.isEmpty else {
            throw ServiceFailure(
                .queryNotSupported, "aggregations cannot be watched", at: "aggregations")
        }
        return (query, parser.centers)
    }

    /// Reads the member `clause` of an object; absent, it selects everything.
    public func memberClause(of members: inout MemberReader) throws(ServiceFailure) -> Clause {
        try clause(&members)
    }

    /// Reads only `bucketQuery`; absent, it selects everything.
    public func bucketQuery(from params: inout MemberReader) throws(ServiceFailure) -> Query {
        guard let view = params.optional("bucketQuery") else { return Query() }
        return try ServiceFailure.inside("bucketQuery", try bucketQuery(view))
    }

    private func bucketQuery(_ view: JSONView) throws(ServiceFailure) -> Query {
        var parser = ClauseParser(limits: limits, takesEmptyAnd: takesEmptyAnd)
        return try bucketQuery(view, by: &parser)
    }

    private func bucketQuery(
        _ view: JSONView, by parser: inout ClauseParser
    ) throws(ServiceFailure) -> Query {
        var members = try MemberReader(view)
        let clause = try clause(&members, by: &parser)
        let order = try order(&members, of: clause)
        let aggregations = try aggregations(&members)
        try members.finish(as: "a query")
        return Query(clause: clause, order: order, aggregations: aggregations)
    }

    /// Refuses names that cannot be a member of `_calculated` or `aggregations`.
    static func checkResultName(_ name: String, at member: String) throws(ServiceFailure) {
        func isLetter(_ unit: UInt8) -> Bool {
            (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(unit | 0x20)
                || unit == UInt8(ascii: "_")
        }
        func isDigit(_ unit: UInt8) -> Bool {
            (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(unit)
        }
        guard let first = name.utf8.first, isLetter(first),
            name.utf8.allSatisfy({ isLetter($0) || isDigit($0) })
        else {
            throw ServiceFailure(
                .invalidInputData,
                "\(quoted(name)) is no name for a result: a letter or '_', then letters, digits, '_'",
                at: member)
        }
    }

    private func order(
        _ members: inout MemberReader, of clause: Clause
    ) throws(ServiceFailure) -> [OrderKey] {
        let descending = try members.optionalBool("descending") ?? false
        guard let view = members.optional("orderBy") else { return [] }
        let names = clause.reportedDistances.map(\.name)
        if let utf8 = view.utf8 {
            return [try orderKey(Array(utf8), descending, names, at: "orderBy")]
        }
        guard view.kind == .array, (1...limits.orderKeys).contains(view.count) else {
            throw ServiceFailure(
                .invalidInputData,
                "expected a field, or an array of 1 to \(limits.orderKeys) objects with a "
                    + "\"field\" and perhaps \"descending\"",
                at: "orderBy")
        }
        var keys: [OrderKey] = []
        for (index, element) in zip(0..., view.elements) {
            let key = try ServiceFailure.inside("orderBy[\(index)]", try orderKey(element, names))
            // A field that is already a key breaks no further ties.
            if !keys.contains(where: { $0.source == key.source }) { keys.append(key) }
        }
        return keys
    }

    private func orderKey(
        _ view: JSONView, _ names: [String]
    ) throws(ServiceFailure) -> OrderKey {
        var entry = try MemberReader(view)
        let utf8 = try entry.utf8("field")
        let descending = try entry.optionalBool("descending") ?? false
        let key = try orderKey(utf8, descending, names, at: "field")
        try entry.finish(as: "a key of an order")
        return key
    }

    private func orderKey(
        _ utf8: [UInt8], _ descending: Bool, _ names: [String], at member: String
    ) throws(ServiceFailure) -> OrderKey {
        let prefix = "_calculated."
        guard utf8.starts(with: prefix.utf8) || utf8.elementsEqual("_calculated".utf8) else {
            return OrderKey(.field(FieldPath(utf8: utf8)), descending: descending)
        }
        let name = String(decoding: utf8.dropFirst(prefix.utf8.count), as: UTF8.self)
        // Compared by code point: the Kelvin sign is not a K.
        guard names.contains(where: { $0.utf8.elementsEqual(name.utf8) }) else {
            throw ServiceFailure(
                .invalidInputData, Self.unknownDistance(name, names), at: member)
        }
        return OrderKey(.distance(name: name), descending: descending)
    }

    /// - Parameters:
    ///   - name: empty for `_calculated` alone.
    ///   - known: the names under which clauses report distances.
    private static func unknownDistance(_ name: String, _ known: [String]) -> String {
        let fault =
            name.isEmpty
            ? "\"_calculated\" alone names no distance"
            : "no clause puts a distance into \(quoted(name))"
        guard let first = known.first else {
            return fault + "; \(GeoClauseParser.reporting)"
        }
        return fault + "; expected \(quoted("_calculated." + first))"
    }

    private func aggregations(
        _ members: inout MemberReader
    ) throws(ServiceFailure) -> [Aggregation] {
        guard let view = members.optional("aggregations") else { return [] }
        var parser = AggregationParser(limits: limits)
        return try parser.parse(view)
    }

    private func pageLimit(_ params: inout MemberReader) throws(ServiceFailure) -> Int? {
        guard let wanted = try wantedObjects(&params), wanted <= limits.pageObjects else {
            return nil
        }
        return wanted
    }

    /// `bestEffortLimit`; nil if it is absent or 0, and `Int.max` if it is no `Int`.
    private func wantedObjects(_ params: inout MemberReader) throws(ServiceFailure) -> Int? {
        guard let view = params.optional("bestEffortLimit") else { return nil }
        let expected = "expected a whole number of objects, 0 or more"
        var number = view.number
        if let utf8 = view.utf8 {
            let isDigits =
                !utf8.isEmpty
                && utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
            guard isDigits else { throw params.failure("bestEffortLimit", expected) }
            number = .integer(Int64(String(decoding: utf8, as: UTF8.self)) ?? .max)
        }
        guard let number, number.isWhole, number >= .integer(0) else {
            throw params.failure("bestEffortLimit", expected)
        }
        return number == .integer(0) ? nil : number.exactInt ?? .max
    }

    /// Reads `fields`; nil means the whole object. `_id` is left out, as it always comes back.
    public func fields(_ params: inout MemberReader) throws(ServiceFailure) -> [[UInt8]]? {
        guard let view = params.optional("fields") else { return nil }
        guard view.kind == .array else {
            throw params.failure("fields", "expected an array of first-level names")
        }
        var names: [[UInt8]] = []
        for (index, element) in zip(0..., view.elements) {
            guard let utf8 = element.utf8 else {
                throw ServiceFailure(
                    .invalidInputData, "expected a first-level name",
                    at: "fields[\(index)]")
            }
            if !utf8.elementsEqualBytes("_id") { names.append(Array(utf8)) }
        }
        return names
    }
}
