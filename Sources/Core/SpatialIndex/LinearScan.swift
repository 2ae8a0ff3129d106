import Geodesy
import PersistentStructures

/// A set of points that is searched linearly: slow, short and obviously correct.
///
/// Tests compare `PointIndex` with it.
///
/// - Complexity: O(n) for a query, O(n log n) for a walk, O(1) for a write.
public struct LinearScan: PointSet {
    private var points: [Slot: Coordinate] = [:]

    /// An empty set.
    public init() {}

    /// A set of these points. If several have the same slot, the last one counts.
    public init(bulk points: [(slot: Slot, coordinate: Coordinate)]) {
        for (slot, coordinate) in points { self.points[slot] = coordinate }
    }

    /// The number of points.
    public var count: Int { points.count }

    /// The point of a slot, with exactly the numbers that were set; nil if the slot has none. O(1).
    public func position(of slot: Slot) -> Coordinate? { points[slot] }

    /// Sets the slot's point, and replaces a former one. O(1).
    public mutating func set(_ coordinate: Coordinate, for slot: Slot) {
        points[slot] = coordinate
    }

    /// Removes the slot's point, if it exists. O(1).
    public mutating func remove(_ slot: Slot) { points[slot] = nil }

    /// Calls `body` for each point in the shape, in no particular order, until it returns false.
    /// O(n).
    public func visit(in shape: GeoShape, _ body: (Slot, Coordinate) -> Bool) {
        for (slot, coordinate) in points where shape.contains(coordinate) {
            guard body(slot, coordinate) else { return }
        }
    }

    /// Calls `body` with each point in the shape and its distance, one at a time and in no
    /// particular order, until it returns false. O(n).
    public func visit(
        in shape: GeoShape, by measure: GeoMeasure,
        _ body: (UnsafeBufferPointer<MeasuredPoint>) -> Bool
    ) {
        visit(in: shape) { slot, coordinate in
            let point = MeasuredPoint(distance: measure.distance(to: coordinate), slot: slot)
            return withUnsafePointer(to: point) { body(UnsafeBufferPointer(start: $0, count: 1)) }
        }
    }

    /// The number of points in the shape. Each point is tested. O(n).
    public func count(in shape: GeoShape) -> Int {
        points.values.count { shape.contains($0) }
    }

    /// A walk over the points within the radius in metres, nearest first. It begins directly after
    /// `after`. All points are sorted at once, in O(n log n).
    public func nearest(
        by measure: GeoMeasure, within radiusMeters: Double = .infinity,
        after: MeasuredPoint? = nil
    ) -> SortedWalk {
        var found: [MeasuredPoint] = []
        for (slot, coordinate) in points {
            let point = MeasuredPoint(distance: measure.distance(to: coordinate), slot: slot)
            guard point.distance.isWithin(radiusMeters: radiusMeters) else { continue }
            if after.map({ $0 < point }) ?? true { found.append(point) }
        }
        return SortedWalk(remaining: found.sorted(by: >))
    }
}

/// The walk of a `LinearScan`, sorted in advance.
public struct SortedWalk: DistanceWalk {
    /// The remaining points; the next one is last.
    fileprivate var remaining: [MeasuredPoint]

    public mutating func next() -> (slot: Slot, distance: Distance)? {
        remaining.popLast().map { ($0.slot, $0.distance) }
    }
}
