import Geodesy
import JSONText
import Objects

/// A value inside a clause.
public enum Literal: Sendable, Hashable {
    case null
    case bool(Bool)
    case number(JSONNumber)
    /// UTF-8: compared as code points, unlike `String`.
    case string([UInt8])
    case point(Coordinate)

    /// A string literal by its text.
    public static func string(_ text: String) -> Literal { .string(Array(text.utf8)) }
}
