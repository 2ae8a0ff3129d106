import Objects

/// Filters in the text form of OGC's Common Query Language (CQL2), as clauses.
///
///     try CQL2Filter.clause("kind = 'shop' AND NOT (price >= 100 OR closed IS NULL)", limits)
///
/// | written | means |
/// | --- | --- |
/// | `f = v`, `f <> v` | `eq`, and `not` of it: unknown where `f` is missing |
/// | `f < v`, `<=`, `>`, `>=` | `range`; v is a number, a string or a time |
/// | `f BETWEEN v AND v` | `range` with both limits |
/// | `f IN (v, v)` | `in` |
/// | `f LIKE 'x%_y'` | `like`; `prefix` or `eq` where they say the same |
/// | `CASEI(f) = CASEI('x')`, `LIKE`, `IN` | `like` that ignores case |
/// | `f IS NULL` | `f` is missing or null; never unknown |
/// | `S_INTERSECTS(f, g)` | `geobox` or `geopolygon`; g is a `BBOX`, `POINT`, `POLYGON`, `MULTIPOLYGON` |
/// | `S_WITHIN(f, g)` | the same: an edge belongs to its polygon |
///
/// `NOT` binds closest, then `AND`, then `OR`; `BETWEEN`, `IN`, `LIKE` and `NULL` may be negated. Keywords
/// are in any case. A property is a word or any name in double quotes, a string stands in single
/// quotes. Inside, a quote is doubled or stands behind a backslash, two backslashes are one, `\n`,
/// `\t`, `\r`, `\b` and `\f` are control characters, and any other backslash is itself. In patterns
/// a backslash makes what is behind it a mere character. The two sides of a comparison, and of a
/// spatial function, may change places.
///
/// `TIMESTAMP('…')` and `DATE('…')` stand beside the times that the service sets, such as
/// `_modified`, and beside texts that spell a time in UTC; a date means the whole day in UTC. A
/// string beside a time of the service is a time if it spells one.
///
/// - Complexity: O(n) of the text's length, and what it takes to check its polygons.
/// - Reference: OGC 21-065r2, "Common Query Language (CQL2)", annex B.
public enum CQL2Filter {
    /// The clause that a text describes; a chain of `AND`s or of `OR`s is one clause.
    ///
    /// - Parameters:
    ///   - limits: how many clauses, values and positions a query may have.
    ///   - places: what spatial functions may name; nil: anything.
    public static func clause(
        _ text: String, _ limits: Limits, places: SpatialFields? = nil
    ) throws(FilterSyntaxError) -> Clause {
        var parser = try TextParser(text, .cql2, limits, places: places)
        return try parser.parse()
    }
}

extension TextDialect {
    static let cql2 = TextDialect(
        spelled: { $0.uppercased() }, and: "AND", or: "OR", not: "NOT", null: "NULL",
        operators: [
            ("=", .equal), ("<>", .unequal), ("<", .limit(isLower: false, isIncluded: false)),
            ("<=", .limit(isLower: false, isIncluded: true)),
            (">", .limit(isLower: true, isIncluded: false)),
            (">=", .limit(isLower: true, isIncluded: true)), ("LIKE", .like),
            ("BETWEEN", .between), ("IN", .membership), ("IS", .null),
        ],
        functions: [
            folding: { parser throws(FilterSyntaxError) in try parser.foldedOperand() },
            "DATE": { parser throws(FilterSyntaxError) in
                .time(try parser.time(TimeSpan.init(date:), "2026-01-31"))
            },
            "TIMESTAMP": { parser throws(FilterSyntaxError) in
                .time(try parser.time(TimeSpan.init(timestamp:), "2026-01-31T12:00:00Z"))
            },
        ],
        conditions: [
            "S_INTERSECTS": { parser throws(FilterSyntaxError) in
                try parser.spatial(isWithin: false)
            },
            "S_WITHIN": { parser throws(FilterSyntaxError) in try parser.spatial(isWithin: true) },
        ],
        constants: ["TRUE": true, "FALSE": false], lists: ["(": ")"],
        quotes: ["'": false, "\"": true],
        doublesQuotes: true, wordMarks: ["."], hasNumbers: true,
        hints: ["!": "CQL2 writes \"<>\" for \"not equal\""].merging(
            ["*", "/", "%", "^"].map { ($0, "arithmetic is not supported") },
            uniquingKeysWith: { $1 }),
        left: { parser throws(FilterSyntaxError) in try parser.operand() },
        right: { parser, field throws(FilterSyntaxError) in try parser.value(beside: field) },
        field: "property", fieldQuotes: "double quotes",
        expectedOperator: { dialect in
            let names = dialect.names { !$0.isComparison }
            return "a comparison \(dialect.comparisons), \(names) after the property"
        },
        expectedLimit: "a number, a string or a time beside",
        refusesDistances: "\"_calculated\" cannot stand in a filter")
}
