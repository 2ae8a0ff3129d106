import Geodesy
import PersistentStructures

/// A point and its distance by some measure. In a nearest-first walk it is also a cursor:
/// everything at or before this pair has been seen.
public struct MeasuredPoint: BitwiseCopyable, Sendable, Hashable, Comparable {
    /// The distance by the measure of the walk.
    public let distance: Distance
    /// The slot of the point.
    public let slot: Slot

    /// A point of a slot at a distance; as a cursor, of a slot that need not have a point.
    public init(distance: Distance, slot: Slot) {
        self.distance = distance
        self.slot = slot
    }

    /// By distance, then by slot: the order of a walk.
    public static func < (a: MeasuredPoint, b: MeasuredPoint) -> Bool {
        (a.distance, a.slot) < (b.distance, b.slot)
    }
}

/// Points in the order of their distance by some measure, equal distances in the order of slots.
public protocol DistanceWalk: Sendable {
    /// The next point, or `nil` if there is none left.
    mutating func next() -> (slot: Slot, distance: Distance)?
}

/// A spatial index of points: which lie in this shape, and which are nearest.
///
/// Every slot has at most one point. A point lies within a radius exactly when
/// `measure.distance(to: point).isWithin(radiusMeters:)`; radii are metres, 0 or more. `PointIndex`
/// is the fast implementation, `LinearScan` the obvious one; both give the same answers.
public protocol PointSet: Sendable {
    /// The walk that `nearest` begins.
    associatedtype Walk: DistanceWalk

    /// A set without points.
    init()

    /// A set of these points; the last of several for one slot counts.
    init(bulk points: [(slot: Slot, coordinate: Coordinate)])

    /// How many points there are.
    var count: Int { get }

    /// The point of a slot, with exactly the numbers that were set.
    func position(of slot: Slot) -> Coordinate?

    /// Sets the slot's point, whether it had one or not.
    mutating func set(_ coordinate: Coordinate, for slot: Slot)

    /// Removes the slot's point, if it has one.
    mutating func remove(_ slot: Slot)

    /// Calls `body` for each point in the shape, in no particular order, until it returns false.
    func visit(in shape: GeoShape, _ body: (Slot, Coordinate) -> Bool)

    /// Calls `body` with the points in the shape and their distances by a measure, some at a time
    /// and in no particular order, until it returns false.
    func visit(
        in shape: GeoShape, by measure: GeoMeasure,
        _ body: (UnsafeBufferPointer<MeasuredPoint>) -> Bool)

    /// How many points lie in the shape.
    func count(in shape: GeoShape) -> Int

    /// A walk over the points within the radius (infinity: everywhere) by a measure, nearest first,
    /// that begins right after `after`.
    func nearest(
        by measure: GeoMeasure, within radiusMeters: Double, after: MeasuredPoint?
    ) -> Walk
}
