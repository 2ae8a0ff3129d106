import Geodesy
import PersistentStructures

extension PointIndex {
    /// Calls `body` for each point in the shape, in no particular order, until it returns false.
    public func visit(in shape: GeoShape, _ body: (Slot, Coordinate) -> Bool) {
        Visit().answer(shape, of: self) { body($0.slot, $0.position) }
    }

    /// Calls `body` with the points in the shape and their distances by a measure, up to sixteen at
    /// a time and in no particular order, until it returns false.
    public func visit(
        in shape: GeoShape, by measure: GeoMeasure,
        _ body: (UnsafeBufferPointer<MeasuredPoint>) -> Bool
    ) {
        MeasuredVisit(measure: measure, radiusMeters: shape.radiusMeters(by: measure))
            .answer(shape, of: self, body)
    }

    /// Appends the slots of the points in the shape, in no particular order. Only points at the
    /// shape's edge need the exact test.
    public func append(in shape: GeoShape, to slots: inout [Slot]) {
        withUnsafeMutablePointer(to: &slots) { Append(slots: $0).answer(shape, of: self) }
    }

    /// The number of points in the shape.
    public func count(in shape: GeoShape) -> Int {
        shape.isEverywhere ? count : Count().answer(shape, of: self)
    }

    /// The approximate number of points in the shape, from 0 to `count`.
    ///
    /// - Complexity: O(tiers). At most 16 groups of nodes are opened in each tier; for a polygon,
    ///   as many for each of its boxes.
    public func estimate(in shape: GeoShape) -> Int {
        shape.isEverywhere ? count : min(count, Estimate().answer(shape, of: self))
    }

    /// A walk over the points within the radius by a measure, nearest first. It begins directly
    /// after `after`.
    public func nearest(
        by measure: GeoMeasure, within radiusMeters: Double = .infinity,
        after: MeasuredPoint? = nil
    ) -> NearestWalk {
        nearest(by: measure, within: radiusMeters, after: after, atMost: nil)
    }

    /// The same walk, limited to a number of points. A small limit makes it examine much less.
    /// `next` must be called either always with a selection or never.
    public func nearest(
        by measure: GeoMeasure, within radiusMeters: Double = .infinity,
        after: MeasuredPoint? = nil, atMost limit: Int?
    ) -> NearestWalk {
        NearestWalk(
            index: self, measure: measure, radiusMeters: radiusMeters, after: after,
            atMost: limit)
    }
}

extension PointIndex {
    /// Calls `body` with the point of each slot in order; nil for a slot without a point.
    ///
    /// - Complexity: as `position(of:)` for each slot, but the processor waits for many memory
    ///   accesses at once.
    public func forEachPosition(
        of slots: UnsafeMutableBufferPointer<Slot>, _ body: (Coordinate?) -> Void
    ) {
        let known = UInt32(min(stamps.count, coordinates.count))
        guard !tiers.isEmpty, slots.allSatisfy({ $0 < known }) else {
            for slot in slots { body(position(of: slot)) }
            return
        }
        let allHavePoints = count == coordinates.count
        withUnsafeTemporaryAllocation(of: Coordinate.self, capacity: slots.count) { positions in
            coordinates.copy(at: slots, to: positions)
            guard !allHavePoints else { return positions.forEach(body) }
            withUnsafeTemporaryAllocation(of: UInt32.self, capacity: slots.count) { current in
                stamps.copy(at: slots, to: current)
                for (stamp, position) in zip(current, positions) {
                    body(stamp == 0 ? nil : position)
                }
            }
        }
    }
}

// MARK: Queries

private struct Visit: RegionQuery {
    typealias Part = (slot: Slot, position: Coordinate)

    @inline(__always)
    func answer<R: Region>(_ region: R, of index: PointIndex, _ body: (Part) -> Bool) {
        index.search(region, positions: true) { slot, latitude, longitude in
            body((slot, Coordinate(latitude: latitude, longitude: longitude)))
        }
    }
}

private struct MeasuredVisit: RegionQuery {
    let measure: GeoMeasure
    /// The greatest distance, if the distance decides whether a point is in the region.
    let radiusMeters: Double?

    func answer<R: Region>(
        _ region: R, of index: PointIndex, _ body: (UnsafeBufferPointer<MeasuredPoint>) -> Bool
    ) {
        let finished = index.searchDelta(region) { slot, latitude, longitude in
            let position = Coordinate(latitude: latitude, longitude: longitude)
            let point = MeasuredPoint(distance: measure.distance(to: position), slot: slot)
            return withUnsafePointer(to: point) { body(UnsafeBufferPointer(start: $0, count: 1)) }
        }
        guard finished else { return }
        withUnsafeTemporaryAllocation(of: MeasuredPoint.self, capacity: TierLayout.fanout) {
            points in
            for record in index.tiers {
                let finished = record.tier.tree.search(region, positions: true) { leaf, lanes in
                    let count = collect(leaf, lanes, of: record, in: index, region, to: points)
                    return count == 0 || body(UnsafeBufferPointer(rebasing: points[..<count]))
                }
                guard finished else { return }
            }
        }
    }

    /// Collects a leaf's points in a region into `points`.
    ///
    /// Distances are computed eight at a time, including some that are not needed.
    ///
    /// - Returns: the number of these points.
    @inline(__always)
    private func collect<R: Region>(
        _ leaf: Leaf, _ lanes: Lanes, of record: TierRecord, in index: PointIndex, _ region: R,
        to points: UnsafeMutableBufferPointer<MeasuredPoint>
    ) -> Int {
        var count = 0
        for first in stride(from: 0, to: TierLayout.fanout, by: 8) {
            var rest = lanes.touched >> UInt16(first) & 0xff
            guard rest != 0 else { continue }
            let meters = measure.meters(
                toLatitudes: leaf.latitudes(from: first),
                longitudes: leaf.longitudes(from: first))
            while rest != 0 {
                let lane = first + rest.trailingZeroBitCount
                rest &= rest - 1
                guard index.isLive(leaf, lane, of: record) else { continue }
                let distance =
                    meters.map { .meters($0[lane - first]) }
                    ?? measure.distance(to: leaf.coordinate(lane))
                let isIn =
                    lanes.inside >> UInt16(lane) & 1 == 1
                    || radiusMeters.map { distance.isWithin(radiusMeters: $0) }
                        ?? region.contains(
                            latitude: leaf.latitude(lane), longitude: leaf.longitude(lane))
                if isIn {
                    points.initializeElement(
                        at: count, to: MeasuredPoint(distance: distance, slot: leaf.slot(lane)))
                    count += 1
                }
            }
        }
        return count
    }
}

/// Leaves that are wholly inside are copied as a whole.
private struct Append: RegionQuery {
    /// Borrowed from the caller, which waits.
    let slots: UnsafeMutablePointer<[Slot]>

    func answer<R: Region>(_ region: R, of index: PointIndex, _: (()) -> Bool) {
        func append(_ slot: Slot) -> Bool {
            slots.pointee.append(slot)
            return true
        }
        _ = index.searchDelta(region) { slot, _, _ in append(slot) }
        for record in index.tiers {
            _ = record.tier.tree.search(region, positions: false) { leaf, lanes in
                if lanes.inside == .max && record.dead == 0 {
                    slots.pointee.append(contentsOf: leaf.slots)
                    return true
                }
                return index.search(leaf, lanes, of: record, region) { slot, _, _ in append(slot) }
            }
        }
    }
}

/// In a tree without dead entries, nodes inside the region are counted without being opened.
private struct Count: RegionQuery {
    func answer<R: Region>(_ region: R, of index: PointIndex, _: (()) -> Bool) -> Int {
        var total = 0
        var hasDead = false
        for record in index.tiers {
            if record.dead == 0 { total += record.tier.tree.count(region) } else { hasDead = true }
        }
        if !hasDead && index.delta.isEmpty { return total }
        var rest = index
        rest.tiers.removeAll { $0.dead == 0 }
        rest.search(region, positions: false) { _, _, _ in
            total += 1
            return true
        }
        return total
    }
}

private struct Estimate: RegionQuery {
    func answer<R: Region>(_ region: R, of index: PointIndex, _: (()) -> Bool) -> Int {
        region.estimate(in: index)
    }
}

// MARK: Searches

extension PointIndex {
    @inline(__always)
    fileprivate func search<R: Region>(
        _ region: R, positions: Bool,
        _ body: (Slot, _ latitude: Double, _ longitude: Double) -> Bool
    ) {
        guard searchDelta(region, body) else { return }
        for record in tiers {
            let finished = record.tier.tree.search(region, positions: positions) { leaf, lanes in
                search(leaf, lanes, of: record, region, body)
            }
            guard finished else { return }
        }
    }

    @inline(__always)
    fileprivate func searchDelta<R: Region>(
        _ region: R, _ body: (Slot, _ latitude: Double, _ longitude: Double) -> Bool
    ) -> Bool {
        for entry in delta {
            let lanes = region.classify(entry)
            guard lanes.touched != 0 else { continue }
            let isIn =
                lanes.inside != 0
                || region.contains(latitude: entry.latitude, longitude: entry.longitude)
            if isIn {
                guard body(entry.slot, entry.latitude, entry.longitude) else { return false }
            }
        }
        return true
    }

    @inline(__always)
    fileprivate func search<R: Region>(
        _ leaf: Leaf, _ lanes: Lanes, of record: TierRecord, _ region: R,
        _ body: (Slot, _ latitude: Double, _ longitude: Double) -> Bool
    ) -> Bool {
        var rest = lanes.touched
        while rest != 0 {
            let lane = rest.trailingZeroBitCount
            rest &= rest - 1
            guard isLive(leaf, lane, of: record) else { continue }
            let latitude = leaf.latitude(lane)
            let longitude = leaf.longitude(lane)
            let isIn =
                lanes.inside >> UInt16(lane) & 1 == 1
                || region.contains(latitude: latitude, longitude: longitude)
            if isIn {
                guard body(leaf.slot(lane), latitude, longitude) else { return false }
            }
        }
        return true
    }

    @inline(__always)
    fileprivate func isLive(_ leaf: Leaf, _ lane: Int, of record: TierRecord) -> Bool {
        record.dead == 0 || stamps[Int(leaf.slot(lane))] == leaf.stamp(lane)
    }

    /// The approximate number of points in a region, computed from its shares of nodes.
    func estimate<R: MeasurableRegion>(by region: R) -> Int {
        var total = 0.0
        for entry in delta where region.classify(entry).touched != 0 { total += 1 }
        for record in tiers {
            var budget = 16
            let entries = record.tier.tree.estimate(region, budget: &budget)
            total += entries * Double(record.live) / Double(record.tier.count)
        }
        return min(count, max(0, Int(total.rounded())))
    }
}
