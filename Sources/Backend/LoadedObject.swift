import Geodesy

/// What an engine needs of one stored object at the start, by numbers and borrowed bytes, so that
/// reading millions of them allocates nothing for each.
///
/// Valid while the call lasts that hands it over.
public struct LoadedObject {
    /// The bucket's place in the list of buckets.
    public var bucket: Int
    public var id: UnsafeBufferPointer<UInt8>
    public var creation: ChangeNumber
    public var change: ChangeNumber
    public var points: UnsafeBufferPointer<LoadedPoint>

    public init(
        bucket: Int, id: UnsafeBufferPointer<UInt8>, creation: ChangeNumber,
        change: ChangeNumber, points: UnsafeBufferPointer<LoadedPoint>
    ) {
        self.bucket = bucket
        self.id = id
        self.creation = creation
        self.change = change
        self.points = points
    }
}

/// A GeoPoint of a stored object.
public struct LoadedPoint: BitwiseCopyable {
    /// The field's place in the list of fields.
    public var field: Int
    public var coordinate: Coordinate

    public init(field: Int, coordinate: Coordinate) {
        self.field = field
        self.coordinate = coordinate
    }
}
