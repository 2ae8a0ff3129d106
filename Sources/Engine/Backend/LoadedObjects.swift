import Geodesy

/// What an engine needs of some stored objects at the start, flat: reading millions of them
/// allocates nothing for each, and a thread can hand them to another.
public struct LoadedObjects: Sendable {
    /// What is the same size for every object; its id and its points stand elsewhere.
    public struct Object: BitwiseCopyable, Sendable {
        /// The bucket's place in the list of buckets.
        public let bucket: Int
        /// The change that created it; it names the object for as long as the object lives.
        public let creation: ChangeNumber
        /// The latest change of it, the creation where there was no other.
        public let change: ChangeNumber
        /// Milliseconds since 1970 from which on it is gone; nil: it stays.
        public let expires: Int64?
        /// Where its id ends in the ids of all, and its points in the points of all.
        fileprivate let idEnd: Int
        fileprivate let pointEnd: Int
    }

    /// A position of an object and the field that holds it.
    public struct Point: BitwiseCopyable, Sendable {
        /// The field's place in the list of fields.
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

    /// No objects; it allocates nothing.
    public init() {}

    /// How many objects there are.
    public var count: Int { objects.count }

    /// Adds a point of the object that is added next.
    public mutating func append(_ point: Point) { points.append(point) }

    /// Adds an object; the points appended since the one before are its own.
    ///
    /// - Parameters:
    ///   - id: its bytes in UTF-8, which are copied.
    ///   - bucket: the bucket's place in the list of buckets.
    ///   - expires: milliseconds since 1970 from which on it is gone; nil: it stays.
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
