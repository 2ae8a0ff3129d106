import Geodesy
import PersistentStructures

/// Points by place, found by looking at every one: slow, short and plainly right.
///
/// It is what `PointIndex` is compared with.
///
/// - Complexity: O(n) for a query, O(n log n) for a walk, O(1) for a write.
public struct LinearScan: PointSet {
    private var points: [Slot: Coordinate] = [:]

    /// A set without points.
    public init() {}

    /// A set of these points; of several for one slot the last counts.
    public init(bulk points: [(slot: Slot, coordinate: Coordinate)]) {
        for (slot, coordinate) in points { self.points[slot] = coordinate }
    }

    /// How many points there are.
    public var count: Int { points.count }

    /// The point of a slot, with exactly the numbers that were set; nil if it has none. O(1).
    public func position(of slot: Slot) -> Coordinate? { points[slot] }

    /// Sets the slot's point, whether it had one or not. O(1).
    public mutating func set(_ coordinate: Coordinate, for slot: Slot) {
        points[slot] = coordinate
    }

    /// Removes the slot's point, if it has one. O(1).
    public mutating func remove(_ slot: Slot) { points[slot] = nil }

    /// Calls `body` for each point in the shape, in no particular order, until it returns false.
    /// O(n).
    public func visit(in shape: GeoShape, _ body: (Slot, Coordinate) -> Bool) {
        for (slot, coordinate) in points where shape.contains(coordinate) {
            guard body(slot, coordinate) else { return }
        }
    }

    /// Calls `body` with one point in the shape and its distance at a time, in no particular order,
    /// until it returns false. O(n).
    public func visit(
        in shape: GeoShape, by measure: GeoMeasure,
        _ body: (UnsafeBufferPointer<MeasuredPoint>) -> Bool
    ) {
        visit(in: shape) { slot, coordinate in
            let point = MeasuredPoint(distance: measure.distance(to: coordinate), slot: slot)
            return withUnsafePointer(to: point) { body(UnsafeBufferPointer(start: $0, count: 1)) }
        }
    }

    /// How many points lie in the shape, each of them tested. O(n).
    public func count(in shape: GeoShape) -> Int {
        points.values.count { shape.contains($0) }
    }

    /// A walk over the points within the radius in metres, nearest first, that begins right after
    /// `after`. All are sorted here, in O(n log n).
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

/// The walk of a `LinearScan`: everything sorted beforehand.
public struct SortedWalk: DistanceWalk {
    /// What is still to come, the next one last.
    fileprivate var remaining: [MeasuredPoint]

    public mutating func next() -> (slot: Slot, distance: Distance)? {
        remaining.popLast().map { ($0.slot, $0.distance) }
    }
}
