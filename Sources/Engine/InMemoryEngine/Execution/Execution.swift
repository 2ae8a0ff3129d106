import BackendContract
import Geodesy
import JSONText
import Objects
import PersistentStructures
import QueryLanguage

/// Runs one planned query: candidates, filters, order. It changes only its own counters.
///
/// It is a class because it is passed around often.
final class Execution {
    let planned: PlannedQuery
    /// Whether the page needs documents, or ids alone.
    private let wantsDocuments: Bool
    /// What the clause tests of each document.
    private let textTests: Int
    var budget: WorkBudget
    /// The parser for documents, taken from the pool when the first document is parsed.
    private var takenParser: JSONParser?

    var visited = 0
    private(set) var documentsRead = 0
    private(set) var matched = 0

    init(_ planned: PlannedQuery, within bounds: ReadBounds) {
        self.planned = planned
        budget = WorkBudget(bounds)
        wantsDocuments = planned.query.fields?.isEmpty != true
        textTests = planned.plan.documentFilter.textTests
    }

    var engine: Engine { planned.engine }
    var bounds: ReadBounds { budget.bounds }
    var snapshot: Snapshot { planned.snapshot }
    var bucketView: BucketView { planned.planner.bucketView }
    // What is yielded is not copied.
    var state: BucketState { _read { yield planned.planner.bucketView.state } }
    var order: [OrderKey] { planned.query.order }
    var plan: Plan { _read { yield planned.plan } }
    /// The distances that the page reports for its objects.
    var distances: [ReportedDistance] { planned.planner.reported }

    deinit { if let takenParser { engine.parsers.giveBack(takenParser) } }

    /// A match on a page.
    struct Match: BitwiseCopyable {
        var slot: Slot
        /// The distance that orders the page, or the only distance that is reported, if it is
        /// known.
        var distance: Distance?
    }

    /// The first matches after a page key, in order, and whether more follow.
    func page(
        after key: PageKey?, objects: Int
    ) throws(ServiceFailure) -> (matches: [Match], hasMore: Bool) {
        var matches: [Match]
        switch plan.ordering {
        case .found: matches = try found(after: key, atMost: objects + 1)
        case .ranked:
            matches = try ranked(plan.ranking!, after: key, atMost: objects + 1)
        case .documents: matches = try sorted(after: key, atMost: objects + 1)
        case .unordered: preconditionFailure("a plan without an order has no pages")
        }
        let hasMore = matches.count > objects
        if hasMore { matches.removeLast() }
        return (matches, hasMore)
    }

    /// Calls `body` with every match, in no particular order.
    func forEachMatch(_ body: (Slot) -> Void) throws(ServiceFailure) {
        try forEachCandidates(after: nil) { slots throws(ServiceFailure) in
            let passed = Slots(rebasing: slots[..<plan.filter.select(slots, &budget)])
            return try forEachAccepted(passed) {
                body($0)
                return true
            }
        }
    }

    /// Every match, in no particular order.
    func allMatches() throws(ServiceFailure) -> [Slot] {
        var found: [Slot] = []
        guard case .all = plan.documentFilter else {
            try forEachMatch { found.append($0) }
            return found
        }
        try forEachCandidates(after: nil) { slots throws(ServiceFailure) in
            let count = plan.filter.select(slots, &budget)
            noteMatches(count)
            found.append(contentsOf: slots[..<count])
            return true
        }
        return found
    }

    /// The sort key of a match, which a page key stores.
    func sortKey(of match: Match) throws(ServiceFailure) -> SortKey {
        guard let ranking = plan.ranking else {
            return sortKey(of: match.slot, in: try view(match.slot))
        }
        var key = SortKey()
        if let distance = match.distance, order.count == 1, ranking.isByDistance {
            key.append(.distance(distance), descending: false)
            return key
        }
        for (value, part) in zip(ranking.values(of: match.slot), order) {
            key.append(value, descending: part.descending)
        }
        return key
    }

    /// Prefetches the data that the page needs, for objects most of which are wanted.
    ///
    /// The data is scattered in memory and arrives while the objects are sorted.
    func prefetch(_ slots: UnsafeBufferPointer<Slot>) {
        if wantsDocuments {
            state.prefetchRecords(of: slots)
        } else {
            state.prefetchIDs(of: slots)
        }
    }

    private func distance(_ report: ReportedDistance, of slot: Slot) -> Distance? {
        state.fields[report.field]?.position(of: slot).distance(by: report.measure)
    }

    func document(of slot: Slot) throws(ServiceFailure) -> [UInt8] {
        let record = state.records[Int(slot)]
        return try engine.document(
            creation: record.creation, change: record.change, in: snapshot)
    }

    // MARK: Order

    /// The first matches of candidates that arrive in order.
    private func found(
        after key: PageKey?, atMost limit: Int
    ) throws(ServiceFailure) -> [Match] {
        var matches: [Match] = []
        matches.reserveCapacity(min(limit, plan.candidates))
        if case .nearest(_, let index, let measure, let radiusMeters) = plan.path {
            let takesAll = if case .all = plan.documentFilter { true } else { false }
            try walk(
                index, by: measure, within: radiusMeters, after: key,
                atMost: takesAll ? limit : nil
            ) { slot, distance throws(ServiceFailure) in
                guard try acceptsDocument(of: slot) else { return true }
                matched += 1
                matches.append(Match(slot: slot, distance: distance))
                return matches.count < limit
            }
            return matches
        }
        try forEachCandidates(after: key) { slots throws(ServiceFailure) in
            let passed = Slots(rebasing: slots[..<plan.filter.select(slots, &budget)])
            return try forEachAccepted(passed) {
                matches.append(Match(slot: $0))
                return matches.count < limit
            }
        }
        return matches
    }

    /// The best matches by values in memory.
    private func ranked(
        _ ranking: SlotRanking, after key: PageKey?, atMost limit: Int
    ) throws(ServiceFailure) -> [Match] {
        let bound = key.map {
            SlotRanking.Bound(
                values: $0.values(of: order),
                slot: state.firstSlot(createdAfter: $0.creation))
        }
        let first = bound?.slot ?? 0
        if let listed = try listed(ranking, from: first, atMost: limit) { return listed }
        if let measured = try measured(ranking, from: first, atMost: limit) { return measured }
        var best = BestMatches(
            BoundedRanking(ranking: ranking, execution: self), limit: limit, behind: bound)
        if try insertMeasured(into: &best) { return try matches(best.finish(), ranking) }
        var isInOrder = false
        if case .ordered = plan.path { isInOrder = true }
        try forEachCandidates(after: key) { slots throws(ServiceFailure) in
            let last = slots[slots.count - 1]
            let passed = Slots(rebasing: slots[..<plan.filter.select(slots, &budget)])
            if case .all = plan.documentFilter {
                matched += passed.count
                if wantsAboutAll(ranking, limit) {
                    prefetch(UnsafeBufferPointer(passed))
                }
                ranking.forEachRanked(passed) { best.insert($0) }
            } else {
                _ = try forEachAccepted(passed) {
                    best.insert(ranking.rank($0))
                    return true
                }
            }
            // The candidates arrive in the order of the first key, so none after the worst match
            // can be better.
            guard isInOrder, let worst = best.worst else { return true }
            return ranking.rank(last).key <= worst.key
        }
        return try matches(best.finish(), ranking)
    }

    private func matches(
        _ ranked: [Ranked], _ ranking: SlotRanking
    ) throws(ServiceFailure) -> [Match] {
        try checkTime()
        let reports = ranking.isByDistance
        return ranked.map { ranked in
            Match(
                slot: ranked.slot,
                distance: reports && ranked.key != .max
                    ? Distance(micrometers: Int64(ranked.key)) : nil)
        }
    }

    /// The best matches by values some of which are only in the documents.
    private func sorted(
        after key: PageKey?, atMost limit: Int
    ) throws(ServiceFailure) -> [Match] {
        let bound = key.map {
            Keyed(
                sortKey: $0.sortKey,
                slot: Slot(state.firstSlot(createdAfter: $0.creation)))
        }
        var best = BestMatches(KeyedOrder(), limit: limit, behind: bound)
        try forEachCandidates(after: nil) { slots throws(ServiceFailure) in
            let passed = Slots(rebasing: slots[..<plan.filter.select(slots, &budget)])
            return try forEachView(of: passed) { slot, view in
                guard plan.documentFilter.evaluate(on: view) == .yes else { return true }
                matched += 1
                best.insert(Keyed(sortKey: sortKey(of: slot, in: view), slot: slot))
                return true
            }
        }
        return best.finish().map { Match(slot: $0.slot) }
    }

    private struct Keyed {
        let sortKey: SortKey
        let slot: Slot
    }

    private struct KeyedOrder: MatchOrder {
        func precedes(_ a: Keyed, _ b: Keyed) -> Bool {
            a.sortKey != b.sortKey ? a.sortKey < b.sortKey : a.slot < b.slot
        }

        func isAfter(_ match: Keyed, _ bound: Keyed) -> Bool { !precedes(match, bound) }

        func sort(_ matches: inout [Keyed]) { matches.sort { precedes($0, $1) } }
    }

    // MARK: Documents

    /// The batch sizes for reading documents. Batches start small, because few documents may be
    /// enough.
    private static let (fewDocuments, manyDocuments) = (8, 64)
    /// More bytes than these in a batch make the next one small.
    private static let manyBytes = 1 << 18

    /// Calls `body` with each slot and its parsed document until it returns false. The document is
    /// valid only during the call.
    ///
    /// - Returns: what `body` returned last.
    func forEachView(
        of slots: Slots, _ body: (Slot, JSONView) throws(ServiceFailure) -> Bool
    ) throws(ServiceFailure) -> Bool {
        var (first, count) = (0, Self.fewDocuments)
        while first < slots.count {
            let part = slots[first..<min(first + count, slots.count)]
            let documents = try engine.documents(
                of: part.map { state.records[Int($0)] }, in: snapshot)
            documentsRead += part.count
            var bytes = 0
            for (slot, document) in zip(part, documents) {
                bytes += document.count
                try allow(WorkBudget.parsing(document.count, tests: textTests))
                guard try body(slot, try parsed(document)) else { return false }
            }
            first += count
            count = bytes > Self.manyBytes ? Self.fewDocuments : min(2 * count, Self.manyDocuments)
        }
        return true
    }

    /// Calls `body` with each slot whose document satisfies the rest of the clause, until it
    /// returns false.
    ///
    /// - Returns: what `body` returned last.
    private func forEachAccepted(
        _ slots: Slots, _ body: (Slot) -> Bool
    ) throws(ServiceFailure) -> Bool {
        if case .all = plan.documentFilter {
            for slot in slots {
                matched += 1
                guard body(slot) else { return false }
            }
            return true
        }
        return try forEachView(of: slots) { slot, view in
            guard plan.documentFilter.evaluate(on: view) == .yes else { return true }
            matched += 1
            return body(slot)
        }
    }

    private func acceptsDocument(of slot: Slot) throws(ServiceFailure) -> Bool {
        if case .all = plan.documentFilter { return true }
        return plan.documentFilter.evaluate(on: try view(slot)) == .yes
    }

    private func sortKey(of slot: Slot, in view: JSONView?) -> SortKey {
        var key = SortKey()
        for part in order {
            switch part.source {
            case .field(let field):
                key.append(SortValue(view.flatMap(field.value)), descending: part.descending)
            case .distance(let name):
                let report = distances.first { $0.name == name }
                key.append(
                    SortValue(report.flatMap { distance($0, of: slot) }),
                    descending: part.descending)
            }
        }
        return key
    }

    /// An object's parsed document, valid until the next one is parsed.
    private func view(_ slot: Slot) throws(ServiceFailure) -> JSONView {
        documentsRead += 1
        let document = try document(of: slot)
        try allow(WorkBudget.parsing(document.count, tests: textTests))
        return try parsed(document)
    }

    /// A parsed document, valid until the next one is parsed.
    func parsed(_ document: [UInt8]) throws(ServiceFailure) -> JSONView {
        if takenParser == nil { takenParser = engine.parsers.take() }
        do {
            return try takenParser!.parse(document)
        } catch {
            throw ServiceFailure(.undefined, "a stored document is not JSON: \(error.message)")
        }
    }

    // MARK: Counters and time

    func noteMatches(_ count: Int) { matched += count }

    func count(_ candidates: Int) throws(ServiceFailure) {
        visited += candidates
        try checkTime()
    }

    /// Whether the time was over at one of the last steps. Loops that cannot throw call it before
    /// each, with what the step costs, and from then on take none; `checkTime` fails afterwards.
    func isOver(before nanoseconds: Int) -> Bool { !budget.allows(nanoseconds) }

    /// - Throws: if there is no time for this work.
    func allow(_ nanoseconds: Int) throws(ServiceFailure) {
        if !budget.allows(nanoseconds) { try checkTime() }
    }

    func checkTime() throws(ServiceFailure) {
        if bounds.isStopped {
            throw ServiceFailure(.temporarilyUnavailable, "the query was stopped")
        }
        guard !bounds.isLate else {
            throw ServiceFailure(
                .queryTimeout,
                "the query took longer than \(engine.limits.queryMilliseconds) ms")
        }
    }
}
