import Geodesy
import Objects
import PlainJSON

/// A value inside a clause.
public enum Literal: Sendable, Hashable {
    /// Equals a null that is stored; a missing field leaves it unknown.
    case null
    /// Comparable with booleans only, not with 0 and 1.
    case bool(Bool)
    /// Compared by value: `1` equals `1.0`.
    case number(JSONNumber)
    /// UTF-8: compared as code points, unlike `String`.
    case string([UInt8])
    /// A GeoPoint in degrees; longitudes 180 and -180 are equal.
    case point(Coordinate)

    /// A string literal by its text.
    public static func string(_ text: String) -> Literal { .string(Array(text.utf8)) }
}
