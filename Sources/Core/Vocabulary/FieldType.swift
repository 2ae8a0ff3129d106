/// The types of fields that a clause can test for, `hasField`.
public enum FieldType: String, Sendable, CaseIterable {
    /// Text, the empty string included.
    case string = "STRING"
    /// A number with no fractional part, `1.0` included.
    case integer = "INTEGER"
    /// A number with a fractional part.
    case decimal = "DECIMAL"
    /// `true` or `false`.
    case boolean = "BOOLEAN"
    /// An object whose `_type` is `point`.
    case geoPoint = "GEOPOINT"
    /// Any array, one of GeoPoints too.
    case array = "ARRAY"
    /// An object that is no GeoPoint.
    case object = "OBJECT"
    /// A null that is stored; a field that is missing has no type.
    case null = "NULL"
}
