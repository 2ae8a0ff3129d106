import Backend
import Geodesy
import HeapModule
import JSONText
import Objects
import QueryLanguage
import SpatialIndex

/// One query on one snapshot: candidates, filters, order. It changes nothing but its counters.
struct Execution {
    let engine: InMemoryEngine
    let snapshot: Snapshot
    let state: BucketState
    let order: [OrderKey]
    let plan: Plan
    let parser: JSONParser
    private let effort: Effort
    private let deadline: ContinuousClock.Instant
    private let distances: [String: DistanceClause]

    private(set) var visited = 0
    private(set) var documentsRead = 0
    private(set) var matched = 0

    init(
        engine: InMemoryEngine, snapshot: Snapshot, state: BucketState, clause: Clause,
        order: [OrderKey], plan: Plan, parser: JSONParser, effort: Effort = .any
    ) {
        self.engine = engine
        self.snapshot = snapshot
        self.state = state
        self.order = order
        self.plan = plan
        self.parser = parser
        self.effort = effort
        deadline = .now + .milliseconds(engine.limits.queryMilliseconds)
        distances = Dictionary(
            clause.distanceClauses.compactMap { clause in
                clause.putDistanceInto.map { ($0, clause) }
            }, uniquingKeysWith: { first, _ in first })
    }

    /// An object that matches. The sort key is there when an order had to be made.
    struct Match: Comparable {
        var slot: Slot
        var sortKey: SortKey?

        static func < (a: Match, b: Match) -> Bool {
            if let x = a.sortKey, let y = b.sortKey, x != y { return x < y }
            return a.slot < b.slot
        }
    }

    /// The first matches behind a page key, in order, and whether there are more.
    mutating func page(
        after key: PageKey?, objects: Int
    ) throws(ServiceFailure) -> (matches: [Match], hasMore: Bool) {
        var matches =
            plan.isOrdered
            ? try ordered(after: key, atMost: objects + 1)
            : try sorted(after: key, atMost: objects + 1)
        let hasMore = matches.count > objects
        if hasMore { matches.removeLast() }
        return (matches, hasMore)
    }

    /// Calls `body` with every match, in no particular order.
    mutating func forEachMatch(_ body: (Slot) -> Void) throws(ServiceFailure) {
        try forEachCandidate(after: nil) { execution, slot throws(ServiceFailure) in
            if try execution.accepts(slot) { body(slot) }
            return true
        }
    }

    /// The sort key of a match: what a page key remembers of it.
    mutating func sortKey(of match: Match) throws(ServiceFailure) -> SortKey {
        if let key = match.sortKey { return key }
        return try sortKey(
            of: match.slot, in: order.contains(where: \.isField) ? view(match.slot) : nil)
    }

    func distance(_ clause: DistanceClause, of slot: Slot) -> Distance? {
        state.fields[clause.field]?.position(of: slot).map(clause.distance)
    }

    func document(of slot: Slot) throws(ServiceFailure) -> [UInt8] {
        let record = state.records[Int(slot)]
        return try engine.document(
            creation: record.creation, change: record.change, in: snapshot)
    }

    // MARK: Order

    private mutating func ordered(
        after key: PageKey?, atMost limit: Int
    ) throws(ServiceFailure) -> [Match] {
        var matches: [Match] = []
        try forEachCandidate(after: key) { execution, slot throws(ServiceFailure) in
            if try execution.accepts(slot) { matches.append(Match(slot: slot)) }
            return matches.count < limit
        }
        return matches
    }

    /// Keeps the best so many of all matches.
    private mutating func sorted(
        after key: PageKey?, atMost limit: Int
    ) throws(ServiceFailure) -> [Match] {
        var best = Heap<Match>()
        let from = key.map {
            (sortKey: $0.sortKey, slot: state.firstSlot(createdAfter: $0.creation))
        }
        try forEachCandidate(after: nil) { execution, slot throws(ServiceFailure) in
            guard let sortKey = try execution.sortKeyIfAccepted(slot) else { return true }
            if let from {
                if sortKey < from.sortKey { return true }
                if sortKey == from.sortKey, Int(slot) < from.slot { return true }
            }
            let match = Match(slot: slot, sortKey: sortKey)
            if best.count < limit {
                best.insert(match)
            } else if match < best.max! {
                best.replaceMax(with: match)
            }
            return true
        }
        return best.unordered.sorted()
    }

    // MARK: Candidates

    private typealias Visitor =
        (inout Execution, Slot) throws(ServiceFailure) -> Bool

    /// Calls `body` with the candidates of the path until it returns false.
    ///
    /// - Parameter after: for a path in order, where to begin.
    private mutating func forEachCandidate(
        after key: PageKey?, _ body: Visitor
    ) throws(ServiceFailure) {
        let first = key.map { state.firstSlot(createdAfter: $0.creation) } ?? 0
        switch plan.path {
        case .nothing: break
        case .ids(let slots): try visit(slots.filter { $0 >= first }, body)
        case .scan:
            for slot in first..<max(first, state.slotCount) where state.records[slot].isAlive {
                guard try visit(Slot(slot), body) else { return }
            }
        case .box, .circle, .union:
            var slots: [Slot] = []
            collect(plan.path, into: &slots)
            if case .union = plan.path { slots = Set(slots).sorted() }
            if plan.isOrdered {
                if first > 0 { slots.removeAll { $0 < first } }
                slots.sort()
            }
            try visit(slots, body)
        case .nearest(let clause):
            guard let index = state.fields[clause.field] else { return }
            var walk = index.nearest(
                to: clause.center, within: clause.radiusMeters, after: key.map(cursor))
            while let (slot, _) = walk.next() {
                guard try visit(slot, body) else { return }
            }
        }
    }

    /// Appends the slots that a path without an order of its own finds.
    private func collect(_ path: AccessPath, into slots: inout [Slot]) {
        switch path {
        case .nothing: break
        case .ids(let found): slots += found
        case .box(let field, let box):
            state.fields[field]?.visit(in: box) { slot, _ in
                slots.append(slot)
                return true
            }
        case .circle(let clause):
            let radius = clause.radiusMeters ?? DistanceClause.maximumRadiusMeters
            state.fields[clause.field]?.visitSlots(within: radius, of: clause.center) { slot in
                slots.append(slot)
                return true
            }
        case .union(let paths): for path in paths { collect(path, into: &slots) }
        case .nearest, .scan: preconditionFailure("a path with an order is walked")
        }
    }

    private mutating func visit(_ slots: [Slot], _ body: Visitor) throws(ServiceFailure) {
        for slot in slots {
            guard try visit(slot, body) else { return }
        }
    }

    private mutating func visit(_ slot: Slot, _ body: Visitor) throws(ServiceFailure) -> Bool {
        visited += 1
        if visited & 127 == 0 { try checkTime() }
        return try body(&self, slot)
    }

    private func checkTime() throws(ServiceFailure) {
        if effort.isStopped {
            throw ServiceFailure(.temporarilyUnavailable, "the query was stopped")
        }
        if ContinuousClock.now > deadline {
            throw ServiceFailure(
                .queryTimeout,
                "the query took longer than \(engine.limits.queryMilliseconds) ms")
        }
    }

    /// The place in a nearest-first walk behind the object a page key names.
    private func cursor(_ key: PageKey) -> NearestCursor {
        let distance = key.sortKey.distance ?? .zero
        let next = state.firstSlot(createdAfter: key.creation)
        guard next > 0 else {
            return NearestCursor(
                distance: Distance(micrometers: distance.micrometers - 1), slot: .max)
        }
        return NearestCursor(distance: distance, slot: Slot(next - 1))
    }

    // MARK: Filters

    private mutating func accepts(_ slot: Slot) throws(ServiceFailure) -> Bool {
        guard passesPlaceFilters(slot) else { return false }
        if case .all = plan.documentFilter {
        } else {
            guard plan.documentFilter.evaluate(on: try view(slot)) == .yes else { return false }
        }
        matched += 1
        return true
    }

    private mutating func sortKeyIfAccepted(_ slot: Slot) throws(ServiceFailure) -> SortKey? {
        guard passesPlaceFilters(slot) else { return nil }
        var view: JSONView?
        if plan.readsDocuments {
            view = try self.view(slot)
            guard plan.documentFilter.evaluate(on: view!) == .yes else { return nil }
        }
        matched += 1
        return sortKey(of: slot, in: view)
    }

    private func passesPlaceFilters(_ slot: Slot) -> Bool {
        plan.placeFilters.allSatisfy { filter in
            filter.evaluate { state.fields[$0]?.position(of: slot) } == .yes
        }
    }

    private func sortKey(of slot: Slot, in view: JSONView?) -> SortKey {
        var key = SortKey()
        for part in order {
            switch part.source {
            case .field(let field):
                key.append(view.flatMap(field.value), descending: part.descending)
            case .distance(let name):
                key.append(
                    distances[name].flatMap { distance($0, of: slot) },
                    descending: part.descending)
            }
        }
        return key
    }

    /// An object's document, parsed; valid until the next one is.
    private mutating func view(_ slot: Slot) throws(ServiceFailure) -> JSONView {
        documentsRead += 1
        let document = try document(of: slot)
        do {
            return try parser.parse(document)
        } catch {
            throw ServiceFailure(.undefined, "a stored document is not JSON: \(error.message)")
        }
    }
}
