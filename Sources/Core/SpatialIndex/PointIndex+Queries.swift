import Geodesy
import PersistentStructures

extension PointIndex {
    /// Calls `body` for each slot with a point in the shape, and with that point, in no particular
    /// order, until it returns false. Of several points it gets any that lies in the shape.
    public func visit(in shape: GeoShape, _ body: (Slot, Coordinate) -> Bool) {
        Visit().answer(shape, of: self) { body($0.slot, $0.position) }
    }

    /// Calls `body` with the slots that have a point in the shape and their distances by a measure,
    /// up to sixteen at a time and in no particular order, until it returns false.
    ///
    /// Now and then it gets none, so that it can end a long search that finds little.
    public func visit(
        in shape: GeoShape, by measure: GeoMeasure,
        _ body: (UnsafeBufferPointer<MeasuredPoint>) -> Bool
    ) {
        MeasuredVisit(measure: measure, radiusMeters: shape.radiusMeters(by: measure))
            .answer(shape, of: self, body)
    }

    /// Appends each slot with a point in the shape, in no particular order. Only points at the
    /// shape's edge need the exact test.
    ///
    /// - Parameter isOver: asked now and then; true ends the search, which has found a part.
    public func append(
        in shape: GeoShape, to slots: inout [Slot], until isOver: () -> Bool = { false }
    ) {
        withUnsafeMutablePointer(to: &slots) {
            Append(slots: $0).answer(shape, of: self) { !isOver() }
        }
    }

    /// The number of slots with a point in the shape.
    public func count(in shape: GeoShape) -> Int { count(in: shape) { false }! }

    /// The number of slots with a point in the shape; nil if it took too long.
    ///
    /// - Parameter isOver: asked now and then; true ends the search.
    public func count(in shape: GeoShape, until isOver: () -> Bool) -> Int? {
        shape.isEverywhere ? count : Count().answer(shape, of: self) { !isOver() }
    }

    /// The approximate number of slots with a point in the shape, from 0 to `count`.
    ///
    /// - Complexity: O(tiers). At most 16 groups of nodes are opened in each tier; for a polygon,
    ///   as many for each of its boxes.
    public func estimate(in shape: GeoShape) -> Int {
        shape.isEverywhere ? count : min(count, Estimate().answer(shape, of: self))
    }

    /// A walk over the slots within the radius by a measure, nearest first. It begins directly
    /// after `after`.
    public func nearest(
        by measure: GeoMeasure, within radiusMeters: Double = .infinity,
        after: MeasuredPoint? = nil
    ) -> NearestWalk {
        nearest(by: measure, within: radiusMeters, after: after, atMost: nil)
    }

    /// The same walk, limited to a number of slots. A small limit makes it examine much less.
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
    /// Calls `body` for each slot in order, with its only point or nil; or `several` with its points.
    ///
    /// - Complexity: as `position(of:)` for each slot, but the processor waits for many memory
    ///   accesses at once.
    public func forEachPosition(
        of slots: UnsafeMutableBufferPointer<Slot>, _ body: (Coordinate?) -> Void,
        several: ([Coordinate]) -> Void
    ) {
        func report(_ slot: Slot) {
            switch position(of: slot) {
            case .nowhere: body(nil)
            case .one(let point): body(point)
            case .several(let points): several(points)
            }
        }
        let known = UInt32(min(stamps.count, positions.first.count))
        guard !tiers.isEmpty, slots.allSatisfy({ $0 < known }) else {
            for slot in slots { report(slot) }
            return
        }
        let allHaveOnePoint = count == positions.first.count && !hasSeveral
        withUnsafeTemporaryAllocation(of: Coordinate.self, capacity: slots.count) { points in
            positions.first.copy(at: slots, to: points)
            guard !allHaveOnePoint else {
                for point in points { body(point) }
                return
            }
            withUnsafeTemporaryAllocation(of: UInt32.self, capacity: slots.count) { current in
                stamps.copy(at: slots, to: current)
                for lane in 0..<slots.count {
                    if Stamp.isOneOfSeveral(current[lane]) {
                        report(slots[lane])
                    } else {
                        body(current[lane] == 0 ? nil : points[lane])
                    }
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
        func goesOn() -> Bool { body(UnsafeBufferPointer(start: nil, count: 0)) }
        let finished = index.searchDelta(region, goesOn) { slot, latitude, longitude in
            let position = Coordinate(latitude: latitude, longitude: longitude)
            let distance = index.distance(of: slot, at: position, by: measure)
            let point = MeasuredPoint(distance: distance, slot: slot)
            return withUnsafePointer(to: point) { body(UnsafeBufferPointer(start: $0, count: 1)) }
        }
        guard finished else { return }
        withUnsafeTemporaryAllocation(of: MeasuredPoint.self, capacity: TierLayout.fanout) {
            points in
            let region = region.measuring(measure)
            var origin: DistanceModel.Origin?
            if case .distance(let from) = measure { origin = from }
            for record in index.tiers {
                var known: Set<Slot> = []
                let finished = record.tier.tree.search(region, positions: true, goesOn) {
                    leaf, lanes in
                    let count = collect(
                        leaf, lanes, of: record, in: index, region, from: origin, &known,
                        to: points)
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
    /// - Parameters:
    ///   - origin: what distances are measured from; nil if that is no place.
    ///   - known: the slots with several points that have been found.
    /// - Returns: the number of these points.
    @inline(__always)
    private func collect<R: Region>(
        _ leaf: Leaf, _ lanes: Lanes, of record: TierRecord<Tier>, in index: PointIndex,
        _ region: R,
        from origin: DistanceModel.Origin?, _ known: inout Set<Slot>,
        to points: UnsafeMutableBufferPointer<MeasuredPoint>
    ) -> Int {
        var count = 0
        for first in stride(from: 0, to: TierLayout.fanout, by: 8) {
            var rest = lanes.touched >> UInt16(first) & 0xff
            guard rest != 0 else { continue }
            let meters = origin?.meters(
                toLatitudes: leaf.latitudes(from: first),
                longitudes: leaf.longitudes(from: first))
            while rest != 0 {
                let lane = first + rest.trailingZeroBitCount
                rest &= rest - 1
                guard index.isLive(leaf, lane, of: record) else { continue }
                let distance =
                    meters.map { .meters($0[lane - first]) }
                    ?? region.distance(by: measure, to: leaf.coordinate(lane), lane: lane)
                let isIn =
                    lanes.inside >> UInt16(lane) & 1 == 1
                    || radiusMeters.map { distance.isWithin(radiusMeters: $0) }
                        ?? region.contains(leaf.coordinate(lane), lane: lane)
                guard isIn else { continue }
                var point = MeasuredPoint(distance: distance, slot: leaf.slot(lane))
                if record.tier.hasSeveral, Stamp.isOneOfSeveral(leaf.stamp(lane)) {
                    guard known.insert(point.slot).inserted else { continue }
                    point = MeasuredPoint(
                        distance: index.distance(
                            of: point.slot, at: leaf.coordinate(lane), by: measure),
                        slot: point.slot)
                }
                points.initializeElement(at: count, to: point)
                count += 1
            }
        }
        return count
    }
}

/// Leaves that are wholly inside are copied as a whole.
private struct Append: RegionQuery {
    /// Borrowed from the caller, which waits.
    let slots: UnsafeMutablePointer<[Slot]>

    func answer<R: Region>(_ region: R, of index: PointIndex, _ body: (()) -> Bool) {
        func goesOn() -> Bool { body(()) }
        func append(_ slot: Slot) -> Bool {
            slots.pointee.append(slot)
            return true
        }
        var finished = index.searchDelta(region, goesOn) { slot, _, _ in append(slot) }
        for record in index.tiers where finished {
            var known: Set<Slot> = []
            finished = record.tier.tree.search(region, positions: false, goesOn) {
                leaf, lanes in
                if lanes.inside == .max && record.isPlain {
                    slots.pointee.append(contentsOf: leaf.slots)
                    return true
                }
                return index.search(leaf, lanes, of: record, region, &known) { slot, _, _ in
                    append(slot)
                }
            }
        }
    }
}

/// In a tree whose entries are all live and of different slots, nodes inside the region are counted
/// without being opened.
private struct Count: RegionQuery {
    func answer<R: Region>(
        _ region: R, of index: PointIndex, _ body: (()) -> Bool
    ) -> Int? {
        var total = 0
        func goesOn() -> Bool { body(()) }
        func count() -> Bool {
            total += 1
            return true
        }
        var finished = index.searchDelta(region, goesOn) { _, _, _ in count() }
        for record in index.tiers where finished {
            if record.isPlain {
                let entries = record.tier.tree.count(region, goesOn)
                total += entries ?? 0
                finished = entries != nil
                continue
            }
            var known: Set<Slot> = []
            finished = record.tier.tree.search(region, positions: false, goesOn) {
                leaf, lanes in
                index.search(leaf, lanes, of: record, region, &known) { _, _, _ in count() }
            }
        }
        return finished ? total : nil
    }
}

private struct Estimate: RegionQuery {
    func answer<R: Region>(_ region: R, of index: PointIndex, _: (()) -> Bool) -> Int {
        region.estimate(in: index)
    }
}

// MARK: Searches
//
// All points of a slot are in the delta, or in one tier. So a search of one of them knows which of
// the slots with several points it has found.

extension PointIndex {
    @inline(__always)
    fileprivate func search<R: Region>(
        _ region: R, positions: Bool,
        _ body: (Slot, _ latitude: Double, _ longitude: Double) -> Bool
    ) {
        guard searchDelta(region, { true }, body) else { return }
        for record in tiers {
            var known: Set<Slot> = []
            let finished = record.tier.tree.search(region, positions: positions) {
                leaf, lanes in
                search(leaf, lanes, of: record, region, &known, body)
            }
            guard finished else { return }
        }
    }

    @inline(__always)
    fileprivate func searchDelta<R: Region>(
        _ region: R, _ goesOn: () -> Bool,
        _ body: (Slot, _ latitude: Double, _ longitude: Double) -> Bool
    ) -> Bool {
        var known: Set<Slot> = []
        var pace = Pace()
        for entry in delta {
            guard !pace.isOver({ !goesOn() }) else { return false }
            let lanes = region.classify(entry)
            guard lanes.touched != 0 else { continue }
            let isIn =
                lanes.inside != 0
                || region.contains(entry.coordinate)
            guard isIn else { continue }
            if Stamp.isOneOfSeveral(entry.stamp) {
                guard known.insert(entry.slot).inserted else { continue }
            }
            guard body(entry.slot, entry.latitude, entry.longitude) else { return false }
        }
        return true
    }

    @inline(__always)
    fileprivate func search<R: Region>(
        _ leaf: Leaf, _ lanes: Lanes, of record: TierRecord<Tier>, _ region: R,
        _ known: inout Set<Slot>, _ body: (Slot, _ latitude: Double, _ longitude: Double) -> Bool
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
                || region.contains(leaf.coordinate(lane), lane: lane)
            guard isIn else { continue }
            let slot = leaf.slot(lane)
            if record.tier.hasSeveral, Stamp.isOneOfSeveral(leaf.stamp(lane)) {
                guard known.insert(slot).inserted else { continue }
            }
            guard body(slot, latitude, longitude) else { return false }
        }
        return true
    }

    @inline(__always)
    func isLive(_ leaf: Leaf, _ lane: Int, of record: TierRecord<Tier>) -> Bool {
        record.dead == 0 || stamps[Int(leaf.slot(lane))] == leaf.stamp(lane)
    }

    /// The distance of a slot that has this point.
    fileprivate func distance(
        of slot: Slot, at point: Coordinate, by measure: GeoMeasure
    ) -> Distance {
        guard hasSeveral else { return measure.distance(to: point) }
        return position(of: slot).distance(by: measure) ?? measure.distance(to: point)
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
