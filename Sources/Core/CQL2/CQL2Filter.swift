import Objects
import QueryLanguage

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
    /// The most levels of nested parentheses and `NOT`s. The service's own limit is lower.
    static let maximumNesting = 200

    /// The clause that a text describes; a chain of `AND`s or of `OR`s is one clause.
    ///
    /// - Parameters:
    ///   - limits: how many clauses, values and positions a query may have.
    ///   - places: what spatial functions may name; nil: anything.
    public static func clause(
        _ text: String, _ limits: Limits, places: SpatialFields? = nil
    ) throws(CQL2SyntaxError) -> Clause {
        var parser = CQL2Parser(try CQL2Token.all(of: text), limits, places)
        return try parser.parse()
    }
}

/// Why a text is no filter, and where.
public struct CQL2SyntaxError: Error, Sendable, Hashable, CustomStringConvertible {
    /// What was expected and what was found, without the place.
    public let message: String
    /// The number of the character at fault, from 1; one more than the last at the end of the text.
    public let column: Int

    /// - Parameter scalar: the number of code points before the one at fault.
    init(_ message: String, at scalar: Int) {
        self.message = message
        column = scalar + 1
    }

    /// `column 12: expected …`
    public var description: String { "column \(column): \(message)" }
}
