@_exported import GeoBucketClient

public typealias KiiBucket = Bucket
public typealias KiiObject = GeoObject
public typealias KiiQuery = BucketQuery
public typealias KiiClause = Clause
public typealias KiiFieldType = Clause.FieldType
public typealias KiiGeoPoint = GeoPoint

extension Clause.FieldType {
    // The names of Kii's last SDK.
    // swift-format-ignore: AlwaysUseLowerCamelCase
    public static var String: Self { .string }
    // swift-format-ignore: AlwaysUseLowerCamelCase
    public static var Integer: Self { .integer }
    // swift-format-ignore: AlwaysUseLowerCamelCase
    public static var Decimal: Self { .decimal }
    // swift-format-ignore: AlwaysUseLowerCamelCase
    public static var Boolean: Self { .boolean }
}
