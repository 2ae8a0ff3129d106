import Geodesy

/// The part of some stored objects that an engine needs at the start. It is flat: reading millions
/// of objects makes no allocation for each of them, and one thread can hand them to another.
public struct LoadedObjects: Sendable {
    /// The part that has the same size for every object. The id and the points are stored
    /// separately.
    public struct Object: BitwiseCopyable, Sendable {
        /// The bucket's index in the list of buckets.
        public let bucket: Int
        /// The change that created the object. It identifies the object for as long as the object
        /// exists.
        public let creation: ChangeNumber
        /// The latest change of the object, which is the creation if there was no other.
        public let change: ChangeNumber
        /// The time at which the object expires, in milliseconds since 1970; nil if it never
        /// expires.
        public let expires: Int64?
        /// The ends of the object's id in `ids` and of its points in `points`.
        fileprivate let idEnd: Int
        fileprivate let pointEnd: Int
    }

    /// A position of an object, and the field that holds it.
    public struct Point: BitwiseCopyable, Sendable {
        /// The field's index in the list of fields.
        public let field: Int
        /// The position, in degrees.
        public let coordinate: Coordinate

        /// Stores its arguments.
        public init(field: Int, coordinate: Coordinate) {
            self.field = field
            self.coordinate = coordinate
        }
    }

    private var objects: [Object] = []
    private var ids: [UInt8] = []
    private var points: [Point] = []

    /// An empty list.
    ///
    /// - Parameter capacity: the number of objects of one point each that it has room for.
    public init(capacity: Int) {
        objects.reserveCapacity(capacity)
        ids.reserveCapacity(capacity * 40)
        points.reserveCapacity(capacity)
    }

    /// The number of objects.
    public var count: Int { objects.count }

    /// Adds a point of the next object that is added.
    public mutating func append(_ point: Point) { points.append(point) }

    /// Adds an object. It owns the points appended since the previous object.
    ///
    /// - Parameters:
    ///   - id: the id's bytes in UTF-8, which are copied.
    ///   - bucket: the bucket's index in the list of buckets.
    ///   - expires: the time at which the object expires, in milliseconds since 1970; nil if it
    ///     never expires.
    /// - Complexity: O(length of the id), amortised.
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
