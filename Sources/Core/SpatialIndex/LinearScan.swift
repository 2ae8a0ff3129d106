import Geodesy
import PersistentStructures

/// A set of points that is searched linearly: slow, short and obviously correct.
///
/// Tests compare `PointIndex` with it.
///
/// - Complexity: O(n) for a query, O(n log n) for a walk, O(1) for a write.
public struct LinearScan: PointSet {
    private var positions: [Slot: SlotPosition] = [:]

    /// An empty set.
    public init() {}

    /// A set of these points. A slot may have several.
    public init(bulk points: [(slot: Slot, coordinate: Coordinate)]) {
        positions = Dictionary(grouping: points, by: \.slot).mapValues { points in
            SlotPosition(points.map(\.coordinate))
        }
    }

    /// The number of slots that have points.
    public var count: Int { positions.count }

    /// The number of points.
    public var pointCount: Int { positions.values.reduce(0) { $0 + $1.count } }

    /// Where a slot's points are, with exactly the numbers that were set. O(1).
    public func position(of slot: Slot) -> SlotPosition { positions[slot] ?? .nowhere }

    /// Sets the slot's only point, and replaces former ones. O(1).
    public mutating func set(_ coordinate: Coordinate, for slot: Slot) {
        positions[slot] = .one(coordinate)
    }

    /// Sets the slot's points, and replaces former ones. O(points of the slot).
    public mutating func set(_ points: [Coordinate], for slot: Slot) {
        positions[slot] = points.isEmpty ? nil : SlotPosition(points)
    }

    /// Removes the slot's points, if it has any. O(1).
    public mutating func remove(_ slot: Slot) { positions[slot] = nil }

    /// Calls `body` for each slot with a point in the shape, and with the first such point, in no
    /// particular order, until it returns false. O(n).
    public func visit(in shape: GeoShape, _ body: (Slot, Coordinate) -> Bool) {
        for (slot, position) in positions {
            guard let point = position.points.first(where: shape.contains) else { continue }
            guard body(slot, point) else { return }
        }
    }

    /// Calls `body` with each slot that has a point in the shape and its distance, one at a time
    /// and in no particular order, until it returns false. O(n).
    public func visit(
        in shape: GeoShape, by measure: GeoMeasure,
        _ body: (UnsafeBufferPointer<MeasuredPoint>) -> Bool
    ) {
        visit(in: shape) { slot, _ in
            let distance = measure.nearest(position(of: slot).points)!
            let point = MeasuredPoint(distance: distance, slot: slot)
            return withUnsafePointer(to: point) { body(UnsafeBufferPointer(start: $0, count: 1)) }
        }
    }

    /// The number of slots with a point in the shape. Each point is tested. O(n).
    public func count(in shape: GeoShape) -> Int {
        positions.values.count { $0.points.contains(where: shape.contains) }
    }

    /// A walk over the slots within the radius in metres, nearest first. It begins directly after
    /// `after`. All slots are sorted at once, in O(n log n).
    public func nearest(
        by measure: GeoMeasure, within radiusMeters: Double = .infinity,
        after: MeasuredPoint? = nil
    ) -> SortedWalk {
        var found: [MeasuredPoint] = []
        for (slot, position) in positions {
            let point = MeasuredPoint(distance: measure.nearest(position.points)!, slot: slot)
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
