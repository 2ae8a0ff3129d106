@_exported import GeoBucketClient

public typealias KiiBucket = Bucket
public typealias KiiObject = GeoObject
public typealias KiiQuery = BucketQuery
public typealias KiiClause = Clause
public typealias KiiGeoPoint = GeoPoint
