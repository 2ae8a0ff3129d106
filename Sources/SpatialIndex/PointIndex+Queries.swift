import Geodesy

extension PointIndex {
    /// Calls `body` for each point in the box, in no particular order, until it returns false.
    public func visit(in box: GeoBox, _ body: (Slot, Coordinate) throws -> Bool) rethrows {
        try search(BoxRegion(box)) { slot, latitude, longitude in
            try body(slot, Coordinate(latitude: latitude, longitude: longitude))
        }
    }

    /// Calls `body` with the points within the radius, up to sixteen at a time and in no particular
    /// order, until it returns false.
    public func visit(
        within radiusMeters: Double, of center: Coordinate, model: DistanceModel = .sphere,
        _ body: (UnsafeBufferPointer<MeasuredPoint>) -> Bool
    ) {
        let circle = CircleRegion(center: center, radiusMeters: radiusMeters, model: model)
        let finished = searchDelta(circle) { slot, latitude, longitude in
            let place = Coordinate(latitude: latitude, longitude: longitude)
            let point = MeasuredPoint(distance: circle.origin.distance(to: place), slot: slot)
            return withUnsafePointer(to: point) { body(UnsafeBufferPointer(start: $0, count: 1)) }
        }
        guard finished else { return }
        withUnsafeTemporaryAllocation(of: MeasuredPoint.self, capacity: TierLayout.fanout) {
            points in
            for record in tiers {
                let finished = record.tier.tree.search(circle, places: true) { leaf, lanes in
                    let count = measure(leaf, lanes, of: record, circle, to: points)
                    return count == 0 || body(UnsafeBufferPointer(rebasing: points[..<count]))
                }
                guard finished else { return }
            }
        }
    }

    /// Calls `body` for each point in the polygon, in no particular order, until it returns false.
    public func visit(
        in polygon: GeoPolygon, _ body: (Slot, Coordinate) throws -> Bool
    ) rethrows {
        try search(PolygonRegion(polygon)) { slot, latitude, longitude in
            try body(slot, Coordinate(latitude: latitude, longitude: longitude))
        }
    }

    /// Appends the slots of the points in the box, in no particular order.
    public func append(in box: GeoBox, to slots: inout [Slot]) {
        append(BoxRegion(box), to: &slots)
    }

    /// Appends the slots of the points within the radius, in no particular order: the exact formula
    /// is evaluated only for points at the circle's edge.
    public func append(
        within radiusMeters: Double, of center: Coordinate, model: DistanceModel = .sphere,
        to slots: inout [Slot]
    ) {
        append(
            CircleRegion(center: center, radiusMeters: radiusMeters, model: model), to: &slots)
    }

    /// Appends the slots of the points in the polygon, in no particular order.
    public func append(in polygon: GeoPolygon, to slots: inout [Slot]) {
        append(PolygonRegion(polygon), to: &slots)
    }

    /// How many points lie in the box.
    public func count(in box: GeoBox) -> Int { count(in: BoxRegion(box)) }

    /// How many points lie within the radius.
    public func count(
        within radiusMeters: Double, of center: Coordinate, model: DistanceModel = .sphere
    ) -> Int {
        count(in: CircleRegion(center: center, radiusMeters: radiusMeters, model: model))
    }

    /// How many points lie in the polygon.
    public func count(in polygon: GeoPolygon) -> Int { count(in: PolygonRegion(polygon)) }

    /// About how many points lie in the box, 0 through `count`.
    ///
    /// - Complexity: O(tiers): at most 16 groups of nodes of each are opened.
    public func estimate(in box: GeoBox) -> Int { estimate(in: BoxRegion(box)) }

    /// About how many points lie within the radius, 0 through `count`.
    ///
    /// - Complexity: O(tiers): at most 16 groups of nodes of each are opened.
    public func estimate(
        within radiusMeters: Double, of center: Coordinate, model: DistanceModel = .sphere
    ) -> Int {
        estimate(in: CircleRegion(center: center, radiusMeters: radiusMeters, model: model))
    }

    /// About how many points lie in the polygon's boxes, 0 through `count`.
    ///
    /// - Complexity: that of an estimate in a box, for each of them.
    public func estimate(in polygon: GeoPolygon) -> Int {
        min(count, polygon.boxes.reduce(0) { $0 + estimate(in: $1) })
    }

    /// A walk over the points within the radius (`nil`: everywhere), nearest first, that begins
    /// right behind `after`.
    public func nearest(
        to center: Coordinate, model: DistanceModel = .sphere, within radiusMeters: Double? = nil,
        after: MeasuredPoint? = nil
    ) -> NearestWalk {
        nearest(to: center, model: model, within: radiusMeters, after: after, atMost: nil)
    }

    /// The same walk, which ends after so many points: of few, much less has to be looked at. It is
    /// asked either with a selection every time or never.
    public func nearest(
        to center: Coordinate, model: DistanceModel = .sphere, within radiusMeters: Double? = nil,
        after: MeasuredPoint? = nil, atMost limit: Int?
    ) -> NearestWalk {
        NearestWalk(
            index: self, center: center, model: model, radiusMeters: radiusMeters, after: after,
            atMost: limit)
    }
}

extension PointIndex {
    /// Calls `body` with the point of each slot, nil where it has none, in their order.
    ///
    /// - Complexity: as `position(of:)` for each, but the processor waits for many at a time.
    public func forEachPosition(
        of slots: UnsafeMutableBufferPointer<Slot>, _ body: (Coordinate?) -> Void
    ) {
        let known = UInt32(min(stamps.count, coordinates.count))
        guard !tiers.isEmpty, slots.allSatisfy({ $0 < known }) else {
            for slot in slots { body(position(of: slot)) }
            return
        }
        let allHavePoints = count == coordinates.count
        withUnsafeTemporaryAllocation(of: Coordinate.self, capacity: slots.count) { places in
            coordinates.copy(at: slots, to: places)
            guard !allHavePoints else { return places.forEach(body) }
            withUnsafeTemporaryAllocation(of: UInt32.self, capacity: slots.count) { current in
                stamps.copy(at: slots, to: current)
                for (stamp, place) in zip(current, places) { body(stamp == 0 ? nil : place) }
            }
        }
    }
}

extension PointIndex {
    @inline(__always)
    private func search<R: Region>(
        _ region: R, places: Bool = true,
        _ body: (Slot, _ latitude: Double, _ longitude: Double) throws -> Bool
    ) rethrows {
        guard try searchDelta(region, body) else { return }
        for record in tiers {
            let finished = try record.tier.tree.search(region, places: places) { leaf, lanes in
                try search(leaf, lanes, of: record, region, body)
            }
            guard finished else { return }
        }
    }

    @inline(__always)
    private func searchDelta<R: Region>(
        _ region: R, _ body: (Slot, _ latitude: Double, _ longitude: Double) throws -> Bool
    ) rethrows -> Bool {
        for entry in delta {
            let lanes = region.judge(entry)
            guard lanes.touched != 0 else { continue }
            let isIn =
                lanes.inside != 0
                || region.contains(latitude: entry.latitude, longitude: entry.longitude)
            if isIn {
                guard try body(entry.slot, entry.latitude, entry.longitude) else { return false }
            }
        }
        return true
    }

    @inline(__always)
    private func search<R: Region>(
        _ leaf: Leaf, _ lanes: Lanes, of record: TierRecord, _ region: R,
        _ body: (Slot, _ latitude: Double, _ longitude: Double) throws -> Bool
    ) rethrows -> Bool {
        var rest = lanes.touched
        while rest != 0 {
            let lane = rest.trailingZeroBitCount
            rest &= rest - 1
            let slot = leaf.slot(lane)
            if record.dead != 0 && stamps[Int(slot)] != leaf.stamp(lane) { continue }
            let latitude = leaf.latitude(lane)
            let longitude = leaf.longitude(lane)
            let isIn =
                lanes.inside >> UInt16(lane) & 1 == 1
                || region.contains(latitude: latitude, longitude: longitude)
            if isIn {
                guard try body(slot, latitude, longitude) else { return false }
            }
        }
        return true
    }

    /// Puts a leaf's points of a circle into `points`.
    ///
    /// Distances are taken eight at a time, those of points that nobody asks for among them.
    ///
    /// - Returns: how many they are.
    @inline(__always)
    private func measure(
        _ leaf: Leaf, _ lanes: Lanes, of record: TierRecord, _ circle: CircleRegion,
        to points: UnsafeMutableBufferPointer<MeasuredPoint>
    ) -> Int {
        var count = 0
        for first in stride(from: 0, to: TierLayout.fanout, by: 8) {
            var rest = lanes.touched >> UInt16(first) & 0xff
            guard rest != 0 else { continue }
            let meters = circle.origin.meters(
                toLatitudes: leaf.latitudes(from: first),
                longitudes: leaf.longitudes(from: first))
            while rest != 0 {
                let lane = first + rest.trailingZeroBitCount
                rest &= rest - 1
                let slot = leaf.slot(lane)
                if record.dead != 0 && stamps[Int(slot)] != leaf.stamp(lane) { continue }
                let distance =
                    meters.map { .meters($0[lane - first]) }
                    ?? circle.origin.distance(to: leaf.coordinate(lane))
                let isIn =
                    lanes.inside >> UInt16(lane) & 1 == 1
                    || distance.isWithin(radiusMeters: circle.radiusMeters)
                if isIn {
                    points.initializeElement(
                        at: count, to: MeasuredPoint(distance: distance, slot: slot))
                    count += 1
                }
            }
        }
        return count
    }

    // Leaves that lie inside as a whole are copied as a whole.
    @inline(__always)
    private func append<R: Region>(_ region: R, to slots: inout [Slot]) {
        func append(_ slot: Slot) -> Bool {
            slots.append(slot)
            return true
        }
        _ = searchDelta(region) { slot, _, _ in append(slot) }
        for record in tiers {
            _ = record.tier.tree.search(region, places: false) { leaf, lanes in
                if lanes.inside == .max && record.dead == 0 {
                    slots.append(contentsOf: leaf.slots)
                    return true
                }
                return search(leaf, lanes, of: record, region) { slot, _, _ in append(slot) }
            }
        }
    }

    // A tree without dead entries is counted without opening what lies inside the region.
    @inline(__always)
    private func count<R: Region>(in region: R) -> Int {
        var total = 0
        var hasDead = false
        for record in tiers {
            if record.dead == 0 { total += record.tier.tree.count(region) } else { hasDead = true }
        }
        if !hasDead && delta.isEmpty { return total }
        var rest = self
        rest.tiers.removeAll { $0.dead == 0 }
        rest.search(region, places: false) { _, _, _ in
            total += 1
            return true
        }
        return total
    }

    private func estimate<R: MeasurableRegion>(in region: R) -> Int {
        var total = 0.0
        for entry in delta where region.judge(entry).touched != 0 { total += 1 }
        for record in tiers {
            var budget = 16
            let entries = record.tier.tree.estimate(region, budget: &budget)
            total += entries * Double(record.live) / Double(record.tier.count)
        }
        return min(count, max(0, Int(total.rounded())))
    }
}
