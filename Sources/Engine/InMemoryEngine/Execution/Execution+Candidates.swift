import Geodesy
import Objects
import PersistentStructures
import QueryLanguage
import SpatialIndex

/// The candidates of a plan's path, in batches. The receiver may overwrite a batch.
extension Execution {
    /// Calls `body` with batches of candidates until it returns false. A batch is never empty.
    ///
    /// - Parameter key: the place where candidates that arrive in an order of their own begin.
    func forEachCandidates(
        after key: PageKey?,
        _ body: (Slots) throws(ServiceFailure) -> Bool
    ) throws(ServiceFailure) {
        let first = key.map { state.firstSlot(createdAfter: $0.creation) } ?? 0
        let startsBehindKey = plan.path.isByCreation && order.isEmpty
        switch plan.path {
        case .nothing: break
        case .scan: try scan(from: startsBehindKey ? first : 0, body)
        case .ordered(let field, let descending):
            try forEachOrdered(field, descending, after: key, first, body)
        case .nearest: preconditionFailure("a nearest-first walk has no batches")
        case .ids, .geo, .lookup, .union:
            var slots: [Slot] = []
            slots.reserveCapacity(plan.candidates + plan.candidates / 4)
            collect(plan.path, into: &slots)
            try checkTime()
            if case .union = plan.path { slots = slots.sortedWithoutRepeats() }
            if startsBehindKey, first > 0 { slots.removeAll { $0 < first } }
            try forEachBatch(of: &slots, body)
        }
        // What was selected since is not valid.
        if budget.isSpent { try checkTime() }
    }

    /// Calls `body` with the slots that pass the filter and their distances, nearest first.
    ///
    /// - Parameter limit: the most matches that are wanted if `body` accepts every one; nil if it
    ///   may not.
    func walk(
        _ index: PointIndex, by measure: GeoMeasure, within radiusMeters: Double,
        after key: PageKey?, atMost limit: Int?,
        _ body: (Slot, Distance) throws(ServiceFailure) -> Bool
    ) throws(ServiceFailure) {
        var walk = index.nearest(
            by: measure, within: radiusMeters, after: key.map(cursor), atMost: limit)
        let filter = plan.filter
        let selection: NearestWalk.Selection? =
            filter.isEmpty ? nil : { filter.select($0, &self.budget) }
        while let (slot, distance) = walk.next(of: selection, until: { bounds.areOver }) {
            guard try body(slot, distance) else { break }
        }
        visited += walk.visitedPoints
        try checkTime()
    }

    /// The place in a nearest-first walk directly after the object that a page key names.
    private func cursor(_ key: PageKey) -> MeasuredPoint {
        var distance = Distance.zero
        if case .distance(let found)? = key.values(of: order).first { distance = found }
        let next = state.firstSlot(createdAfter: key.creation)
        guard next > 0 else {
            return MeasuredPoint(
                distance: Distance(micrometers: distance.micrometers - 1), slot: .max)
        }
        return MeasuredPoint(distance: distance, slot: Slot(next - 1))
    }

    // MARK: Measured searches
    //
    // The index has each point at hand when it finds it. If a shape alone decides, distances are
    // computed there and not from the stored points, which are scattered in memory.

    /// The clause of a query that is decided by its shape alone, and its index.
    private var lonelyClause: (GeoClause, PointIndex)? {
        guard case .geo(let clause, let index) = plan.path, plan.filter.isEmpty,
            case .all = plan.documentFilter
        else { return nil }
        return (clause, index)
    }

    /// Calls `body` with batches of the points in a clause's shape and their distances.
    private func forEachMeasured(
        _ clause: GeoClause, _ index: PointIndex, by measure: GeoMeasure,
        _ body: (UnsafeBufferPointer<MeasuredPoint>) -> Void
    ) throws(ServiceFailure) {
        var count = 0
        index.visit(in: clause.shape, by: measure) { points in
            guard !points.isEmpty else { return !bounds.areOver }
            count += points.count
            body(points)
            return true
        }
        noteMatches(count)
        try self.count(count)
    }

    /// Whether the order is that of creation and almost all matches are wanted.
    func wantsAboutAll(_ ranking: SlotRanking, _ limit: Int) -> Bool {
        ranking.parts.isEmpty && plan.candidates < 4 * limit
    }

    /// The matches in the order of creation, of a query that reports no distance; nil unless almost
    /// all matches are wanted.
    func listed(
        _ ranking: SlotRanking, from first: Int, atMost limit: Int
    ) throws(ServiceFailure) -> [Match]? {
        guard wantsAboutAll(ranking, limit), let (clause, index) = lonelyClause, distances.isEmpty
        else { return nil }
        var slots: [Slot] = []
        slots.reserveCapacity(plan.candidates + plan.candidates / 4)
        index.append(in: clause.shape, to: &slots) { bounds.areOver }
        if first > 0 { slots.removeAll { $0 < first } }
        noteMatches(slots.count)
        try count(slots.count)
        slots.withUnsafeMutableBufferPointer {
            prefetch(UnsafeBufferPointer($0))
            $0.radixSort(digitBits: 7) { UInt64($0) }
        }
        return slots.prefix(limit).map { Match(slot: $0) }
    }

    /// The matches in the order of creation with the only distance that is reported; nil unless
    /// almost all matches are wanted.
    func measured(
        _ ranking: SlotRanking, from first: Int, atMost limit: Int
    ) throws(ServiceFailure) -> [Match]? {
        guard wantsAboutAll(ranking, limit), let (clause, index) = lonelyClause,
            distances.count == 1,
            clause.reports == distances
        else { return nil }
        var found: [Match] = []
        found.reserveCapacity(plan.candidates + plan.candidates / 4)
        try forEachMeasured(clause, index, by: distances[0].measure) { points in
            for point in points where point.slot >= first {
                found.append(Match(slot: point.slot, distance: point.distance))
            }
        }
        withUnsafeTemporaryAllocation(of: Slot.self, capacity: found.count) { slots in
            for (position, match) in found.enumerated() { slots[position] = match.slot }
            prefetch(UnsafeBufferPointer(slots))
        }
        found.withUnsafeMutableBufferPointer { $0.radixSort(digitBits: 7) { UInt64($0.slot) } }
        if found.count > limit { found.removeLast(found.count - limit) }
        return found
    }

    /// Ranks the matches by the distance at which they were found; returns false if that is not
    /// their order.
    func insertMeasured(
        into best: inout BestMatches<BoundedRanking>
    ) throws(ServiceFailure) -> Bool {
        guard let (clause, index) = lonelyClause, let report = clause.report(orderedBy: order)
        else { return false }
        try forEachMeasured(clause, index, by: report.measure) { points in
            for point in points { best.insert(Ranked(point)) }
        }
        return true
    }

    private func scan(
        from first: Int, _ body: (Slots) throws(ServiceFailure) -> Bool
    ) throws(ServiceFailure) {
        let end = state.slotCount
        let hasHoles = state.count < end
        var batch = [Slot](repeating: 0, count: plan.batch)
        var next = first
        while next < end {
            let count = batch.withUnsafeMutableBufferPointer {
                hasHoles ? fillAlive($0, from: &next, to: end) : Self.fill($0, from: &next, to: end)
            }
            guard count > 0 else { continue }
            try self.count(count)
            guard try withSlots(&batch, 0..<count, body) else { return }
        }
    }

    /// Writes the next slots to a buffer.
    ///
    /// - Returns: their number.
    private static func fill(_ slots: Slots, from next: inout Int, to end: Int) -> Int {
        let count = min(slots.count, end - next)
        for position in 0..<count { slots[position] = Slot(truncatingIfNeeded: next + position) }
        next += count
        return count
    }

    /// Writes the next slots that have an object to a buffer.
    ///
    /// - Returns: their number.
    private func fillAlive(_ slots: Slots, from next: inout Int, to end: Int) -> Int {
        let records = state.records
        var count = 0
        while next < end, count < slots.count {
            slots[count] = Slot(next)
            count += records[next].isAlive ? 1 : 0
            next += 1
        }
        return count
    }

    private func forEachOrdered(
        _ field: FieldPath, _ descending: Bool, after key: PageKey?, _ first: Int,
        _ body: (Slots) throws(ServiceFailure) -> Bool
    ) throws(ServiceFailure) {
        guard let (index, column) = state.columns.index(field) else {
            preconditionFailure("a plan by an order that the snapshot does not have")
        }
        // If there are several sort keys, the others decide among equal values, so all equal values
        // are visited again.
        let slot = order.count == 1 ? first : 0
        let after = key.flatMap { $0.values(of: order).first.map { (value: $0, slot: slot) } }
        var walk = OrderedWalk(index, column, descending: descending, after: after)
        var batch = [Slot](repeating: 0, count: plan.batch)
        var size = min(32, batch.count)
        while true {
            let count = batch.withUnsafeMutableBufferPointer {
                walk.next(into: Slots(rebasing: $0[..<size]))
            }
            guard count > 0 else { return }
            try self.count(count)
            guard try withSlots(&batch, 0..<count, body) else { return }
            size = min(size * 2, batch.count)
        }
    }

    private func forEachBatch(
        of slots: inout [Slot],
        _ body: (Slots) throws(ServiceFailure) -> Bool
    ) throws(ServiceFailure) {
        var first = 0
        while first < slots.count {
            let next = min(first + plan.batch, slots.count)
            visited += next - first
            // Before the first batch the clock was read when the search had ended.
            if first > 0 { try checkTime() }
            guard try withSlots(&slots, first..<next, body) else { return }
            first = next
        }
    }

    private func withSlots(
        _ slots: inout [Slot], _ range: Range<Int>,
        _ body: (Slots) throws(ServiceFailure) -> Bool
    ) throws(ServiceFailure) -> Bool {
        try slots.withUnsafeMutableBufferPointer { buffer throws(ServiceFailure) in
            try body(Slots(rebasing: buffer[range]))
        }
    }

    /// Appends the slots of a path that finds all of them at once.
    private func collect(_ path: AccessPath, into slots: inout [Slot]) {
        switch path {
        case .nothing: break
        case .ids(let found): slots += found
        case .geo(let clause, let index):
            index.append(in: clause.shape, to: &slots) { bounds.areOver }
        case .lookup(let field, let range, _):
            guard let (index, column) = state.columns.index(field) else { return }
            var walk = OrderedWalk(index, column, range: range)
            walk.appendRest(to: &slots)
        case .union(let paths): for path in paths { collect(path, into: &slots) }
        case .nearest, .ordered, .scan: preconditionFailure("a path with an order is walked")
        }
    }
}

extension [Slot] {
    fileprivate func sortedWithoutRepeats() -> [Slot] {
        var result: [Slot] = []
        for slot in sorted() where slot != result.last { result.append(slot) }
        return result
    }
}
