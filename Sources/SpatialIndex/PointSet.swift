import Geodesy

/// The dense number a bucket gives to a version of an object.
public typealias Slot = UInt32

/// A point and its distance from a centre. In a nearest-first walk it is a place as well: everything
/// at or before this pair has been seen.
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

/// Points in the order of their distance from a centre, equal distances in the order of slots.
public protocol DistanceWalk: Sendable {
    /// The next point, or `nil` when there is none left.
    mutating func next() -> (slot: Slot, distance: Distance)?
}

/// Points by place: which lie in this box or circle, and which are nearest.
///
/// Every slot has at most one point. A point lies within a radius exactly when
/// `model.distance(center, point).isWithin(radiusMeters:)`; radii are metres, 0 or more.
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

    /// Calls `body` for each point in the box, in no particular order, until it returns false.
    func visit(in box: GeoBox, _ body: (Slot, Coordinate) throws -> Bool) rethrows

    /// Calls `body` with the points within the radius, some at a time and in no particular order,
    /// until it returns false.
    func visit(
        within radiusMeters: Double, of center: Coordinate, model: DistanceModel,
        _ body: (UnsafeBufferPointer<MeasuredPoint>) -> Bool)

    /// Calls `body` for each point in the polygon, in no particular order, until it returns false.
    func visit(in polygon: GeoPolygon, _ body: (Slot, Coordinate) throws -> Bool) rethrows

    /// How many points lie in the box.
    func count(in box: GeoBox) -> Int

    /// How many points lie within the radius.
    func count(within radiusMeters: Double, of center: Coordinate, model: DistanceModel) -> Int

    /// How many points lie in the polygon.
    func count(in polygon: GeoPolygon) -> Int

    /// A walk over the points within the radius (`nil`: everywhere), nearest first, that begins
    /// right behind `after`.
    func nearest(
        to center: Coordinate, model: DistanceModel, within radiusMeters: Double?,
        after: MeasuredPoint?
    ) -> Walk
}
