import Geodesy

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

    public var count: Int { points.count }

    public func position(of slot: Slot) -> Coordinate? { points[slot] }

    public mutating func set(_ coordinate: Coordinate, for slot: Slot) {
        points[slot] = coordinate
    }

    public mutating func remove(_ slot: Slot) { points[slot] = nil }

    public func visit(in box: GeoBox, _ body: (Slot, Coordinate) throws -> Bool) rethrows {
        for (slot, coordinate) in points where box.contains(coordinate) {
            guard try body(slot, coordinate) else { return }
        }
    }

    public func visit(
        within radiusMeters: Double, of center: Coordinate, model: DistanceModel = .sphere,
        _ body: (UnsafeBufferPointer<MeasuredPoint>) -> Bool
    ) {
        for (slot, coordinate) in points {
            let distance = model.distance(center, coordinate)
            guard distance.isWithin(radiusMeters: radiusMeters) else { continue }
            let isWanted = withUnsafePointer(to: MeasuredPoint(distance: distance, slot: slot)) {
                body(UnsafeBufferPointer(start: $0, count: 1))
            }
            guard isWanted else { return }
        }
    }

    public func visit(
        in polygon: GeoPolygon, _ body: (Slot, Coordinate) throws -> Bool
    ) rethrows {
        for (slot, coordinate) in points where polygon.contains(coordinate) {
            guard try body(slot, coordinate) else { return }
        }
    }

    public func count(in box: GeoBox) -> Int {
        points.values.count { box.contains($0) }
    }

    public func count(
        within radiusMeters: Double, of center: Coordinate, model: DistanceModel = .sphere
    ) -> Int {
        points.values.count {
            model.distance(center, $0).isWithin(radiusMeters: radiusMeters)
        }
    }

    public func count(in polygon: GeoPolygon) -> Int {
        points.values.count { polygon.contains($0) }
    }

    public func nearest(
        to center: Coordinate, model: DistanceModel = .sphere, within radiusMeters: Double?,
        after: MeasuredPoint?
    ) -> SortedWalk {
        var found: [MeasuredPoint] = []
        visit(within: radiusMeters ?? .infinity, of: center, model: model) { points in
            found += points.filter { point in after.map { $0 < point } ?? true }
            return true
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
