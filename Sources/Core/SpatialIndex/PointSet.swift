import Geodesy
import PersistentStructures

/// A slot and its distance by some measure: that of its nearest point. It also serves as a cursor of a nearest-first walk:
/// everything at or before this pair has been visited.
public struct MeasuredPoint: BitwiseCopyable, Sendable, Hashable, Comparable {
    /// The distance by the measure of the walk.
    public let distance: Distance
    /// The slot of the point.
    public let slot: Slot

    /// A slot at a distance. The slot of a cursor need not have a point.
    public init(distance: Distance, slot: Slot) {
        self.distance = distance
        self.slot = slot
    }

    /// Compares by distance, then by slot, which is the order of a walk.
    public static func < (a: MeasuredPoint, b: MeasuredPoint) -> Bool {
        (a.distance, a.slot) < (b.distance, b.slot)
    }
}

/// Slots in the order of their distance by some measure. Equal distances are in the order of slots.
public protocol DistanceWalk: Sendable {
    /// The next slot; `nil` if none is left.
    mutating func next() -> (slot: Slot, distance: Distance)?
}

/// A spatial index of points. It finds the slots in a shape and the slots nearest to a place.
///
/// A slot has any number of points. It is in a shape if one of them is, and its distance is that of
/// the nearest, as `GeoMeasure.nearest` defines it. Every query answers with a slot once. A point is within a radius exactly when `measure.distance(to:
/// point).isWithin(radiusMeters:)` is true. Radii are in metres and at least 0. `PointIndex` is the
/// fast implementation and `LinearScan` the obvious one; both give the same answers.
public protocol PointSet: Sendable {
    /// The type of walk that `nearest` returns.
    associatedtype Walk: DistanceWalk

    /// An empty set.
    init()

    /// A set of these points.
    init(bulk points: [(slot: Slot, coordinate: Coordinate)])

    /// The number of slots that have points.
    var count: Int { get }

    /// The number of points.
    var pointCount: Int { get }

    /// Where a slot's points are, with exactly the numbers that were set.
    func position(of slot: Slot) -> SlotPosition

    /// Sets the slot's only point, and replaces former ones.
    mutating func set(_ coordinate: Coordinate, for slot: Slot)

    /// Sets the slot's points, and replaces former ones. Points with identical numbers count once.
    mutating func set(_ points: [Coordinate], for slot: Slot)

    /// Removes the slot's points, if it has any.
    mutating func remove(_ slot: Slot)

    /// Calls `body` for each slot with a point in the shape, and with one such point, in no
    /// particular order, until it returns false.
    func visit(in shape: GeoShape, _ body: (Slot, Coordinate) -> Bool)

    /// Calls `body` with batches of the slots that have a point in the shape and their distances by
    /// a measure, in no particular order, until it returns false.
    func visit(
        in shape: GeoShape, by measure: GeoMeasure,
        _ body: (UnsafeBufferPointer<MeasuredPoint>) -> Bool)

    /// The number of slots with a point in the shape.
    func count(in shape: GeoShape) -> Int

    /// A walk over the slots within the radius by a measure, nearest first. It begins directly
    /// after `after`. An infinite radius includes all slots.
    func nearest(
        by measure: GeoMeasure, within radiusMeters: Double, after: MeasuredPoint?
    ) -> Walk
}
