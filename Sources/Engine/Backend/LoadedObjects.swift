import Geodesy

/// What an engine needs of some stored objects at the start, flat: reading millions of them
/// allocates nothing for each, and a thread can hand them to another.
public struct LoadedObjects: Sendable {
    public struct Object: BitwiseCopyable, Sendable {
        /// The bucket's place in the list of buckets.
        public let bucket: Int
        public let creation: ChangeNumber
        public let change: ChangeNumber
        /// Milliseconds since 1970 from which on it is gone; nil: it stays.
        public let expires: Int64?
        /// Where its id ends in the ids of all, and its points in the points of all.
        fileprivate let idEnd: Int
        fileprivate let pointEnd: Int
    }

    public struct Point: BitwiseCopyable, Sendable {
        /// The field's place in the list of fields.
        public let field: Int
        public let coordinate: Coordinate

        public init(field: Int, coordinate: Coordinate) {
            self.field = field
            self.coordinate = coordinate
        }
    }

    private var objects: [Object] = []
    private var ids: [UInt8] = []
    private var points: [Point] = []

    public init() {}

    public var count: Int { objects.count }

    /// Adds a point of the object that is added next.
    public mutating func append(_ point: Point) { points.append(point) }

    public mutating func append(
        _ id: UnsafeBufferPointer<UInt8>, bucket: Int, creation: ChangeNumber,
        change: ChangeNumber, expires: Int64? = nil
    ) {
        ids.append(contentsOf: id)
        objects.append(
            Object(
                bucket: bucket, creation: creation, change: change, expires: expires,
                idEnd: ids.count, pointEnd: points.count))
    }

    /// Calls `body` with each object, its id's bytes and its points, borrowed for the call.
    public func visit(
        _ body: (Object, UnsafeBufferPointer<UInt8>, UnsafeBufferPointer<Point>) -> Void
    ) {
        ids.withUnsafeBufferPointer { ids in
            points.withUnsafeBufferPointer { points in
                var (idStart, pointStart) = (0, 0)
                for object in objects {
                    body(
                        object, UnsafeBufferPointer(rebasing: ids[idStart..<object.idEnd]),
                        UnsafeBufferPointer(rebasing: points[pointStart..<object.pointEnd]))
                    (idStart, pointStart) = (object.idEnd, object.pointEnd)
                }
            }
        }
    }
}
