import Geodesy
import PersistentStructures

/// A point and its distance by some measure. In a nearest-first walk it is a place as well:
/// everything at or before this pair has been seen.
public struct MeasuredPoint: BitwiseCopyable, Sendable, Hashable, Comparable {
    public let distance: Distance
    public let slot: Slot

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
    /// The next point, or `nil` when there is none left.
    mutating func next() -> (slot: Slot, distance: Distance)?
}

/// Points by place: which lie in this shape, and which are nearest.
///
/// Every slot has at most one point. A point lies within a radius exactly when
/// `measure.distance(to: point).isWithin(radiusMeters:)`; radii are metres, 0 or more.
/// `PointIndex` answers fast, `LinearScan` obviously; both answer the same.
public protocol PointSet: Sendable {
    /// The walk `nearest` begins.
    associatedtype Walk: DistanceWalk

    /// A set without points.
    init()

    /// A set of these points; of several for one slot the last counts.
    init(bulk points: [(slot: Slot, coordinate: Coordinate)])

    /// How many points there are.
    var count: Int { get }

    /// The point of a slot, the very numbers that were set.
    func position(of slot: Slot) -> Coordinate?

    /// Puts the slot's point there, whether it had one or not.
    mutating func set(_ coordinate: Coordinate, for slot: Slot)

    /// Takes the slot's point away, if it has one.
    mutating func remove(_ slot: Slot)

    /// Calls `body` for each point in the shape, in no particular order, until it returns false.
    func visit(in shape: GeoShape, _ body: (Slot, Coordinate) -> Bool)

    /// Calls `body` with the points in the shape and how far they lie by a measure, some at a time
    /// and in no particular order, until it returns false.
    func visit(
        in shape: GeoShape, by measure: GeoMeasure,
        _ body: (UnsafeBufferPointer<MeasuredPoint>) -> Bool)

    /// How many points lie in the shape.
    func count(in shape: GeoShape) -> Int

    /// A walk over the points within the radius (infinity: everywhere) by a measure, nearest first,
    /// that begins right behind `after`.
    func nearest(
        by measure: GeoMeasure, within radiusMeters: Double, after: MeasuredPoint?
    ) -> Walk
}
