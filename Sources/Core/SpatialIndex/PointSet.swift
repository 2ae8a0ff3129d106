import Geodesy
import PersistentStructures

/// A point and its distance by some measure. It also serves as a cursor of a nearest-first walk:
/// everything at or before this pair has been visited.
public struct MeasuredPoint: BitwiseCopyable, Sendable, Hashable, Comparable {
    /// The distance by the measure of the walk.
    public let distance: Distance
    /// The slot of the point.
    public let slot: Slot

    /// A point of a slot at a distance. The slot of a cursor need not have a point.
    public init(distance: Distance, slot: Slot) {
        self.distance = distance
        self.slot = slot
    }

    /// Compares by distance, then by slot, which is the order of a walk.
    public static func < (a: MeasuredPoint, b: MeasuredPoint) -> Bool {
        (a.distance, a.slot) < (b.distance, b.slot)
    }
}

/// The points in the order of their distance by some measure. Equal distances are in the order of
/// slots.
public protocol DistanceWalk: Sendable {
    /// The next point; `nil` if none is left.
    mutating func next() -> (slot: Slot, distance: Distance)?
}

/// A spatial index of points. It finds the points in a shape and the points nearest to a place.
///
/// Every slot has at most one point. A point is within a radius exactly when `measure.distance(to:
/// point).isWithin(radiusMeters:)` is true. Radii are in metres and at least 0. `PointIndex` is the
/// fast implementation and `LinearScan` the obvious one; both give the same answers.
public protocol PointSet: Sendable {
    /// The type of walk that `nearest` returns.
    associatedtype Walk: DistanceWalk

    /// An empty set.
    init()

    /// A set of these points. If several have the same slot, the last one counts.
    init(bulk points: [(slot: Slot, coordinate: Coordinate)])

    /// The number of points.
    var count: Int { get }

    /// The point of a slot, with exactly the numbers that were set.
    func position(of slot: Slot) -> Coordinate?

    /// Sets the slot's point, and replaces a former one.
    mutating func set(_ coordinate: Coordinate, for slot: Slot)

    /// Removes the slot's point, if it exists.
    mutating func remove(_ slot: Slot)

    /// Calls `body` for each point in the shape, in no particular order, until it returns false.
    func visit(in shape: GeoShape, _ body: (Slot, Coordinate) -> Bool)

    /// Calls `body` with batches of the points in the shape and their distances by a measure, in no
    /// particular order, until it returns false.
    func visit(
        in shape: GeoShape, by measure: GeoMeasure,
        _ body: (UnsafeBufferPointer<MeasuredPoint>) -> Bool)

    /// The number of points in the shape.
    func count(in shape: GeoShape) -> Int

    /// A walk over the points within the radius by a measure, nearest first. It begins directly
    /// after `after`. An infinite radius includes all points.
    func nearest(
        by measure: GeoMeasure, within radiusMeters: Double, after: MeasuredPoint?
    ) -> Walk
}
