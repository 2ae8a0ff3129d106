@_exported import GeoBucketClient

/// Kii's name for a bucket, of any scope.
public typealias KiiBucket = Bucket
/// Kii's name for an object. Unlike Kii's it has no body and no access-control list.
public typealias KiiObject = GeoObject
/// Kii's name for a query. Unlike Kii's it can sort by several keys.
public typealias KiiQuery = BucketQuery
/// Kii's name for a clause.
public typealias KiiClause = Clause
/// Kii's name for the field types of `hasField(_:andType:)`.
public typealias KiiFieldType = Clause.FieldType
// swift-format-ignore: AlwaysUseLowerCamelCase
/// A string, by the name of Kii's older SDKs.
public let KiiFieldTypeString = KiiFieldType.string
// swift-format-ignore: AlwaysUseLowerCamelCase
/// A number with no fractional part, by the name of Kii's older SDKs.
public let KiiFieldTypeInteger = KiiFieldType.integer
// swift-format-ignore: AlwaysUseLowerCamelCase
/// A number with a fractional part, by the name of Kii's older SDKs.
public let KiiFieldTypeDecimal = KiiFieldType.decimal
// swift-format-ignore: AlwaysUseLowerCamelCase
/// True or false, by the name of Kii's older SDKs.
public let KiiFieldTypeBoolean = KiiFieldType.boolean
/// Kii's name for a position, degrees.
public typealias KiiGeoPoint = GeoPoint

extension Clause.FieldType {
    // The names of Kii's last SDK.
    // swift-format-ignore: AlwaysUseLowerCamelCase
    /// A string.
    public static var String: Self { .string }
    // swift-format-ignore: AlwaysUseLowerCamelCase
    /// A number with no fractional part.
    public static var Integer: Self { .integer }
    // swift-format-ignore: AlwaysUseLowerCamelCase
    /// A number with a fractional part.
    public static var Decimal: Self { .decimal }
    // swift-format-ignore: AlwaysUseLowerCamelCase
    /// True or false.
    public static var Boolean: Self { .boolean }
}

extension BucketQuery {
    /// The field that the query sorts by, the first of several; nil for the order of creation.
    public var sortField: String? { order.first?.field }
    /// Whether large values of `sortField` come first.
    public var sortDescending: Bool { order.first?.isDescending ?? false }
}
