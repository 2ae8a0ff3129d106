import Backend
import Glibc
import JSONText
import Objects
import PersistentStructures
import QueryLanguage

extension InMemoryEngine {
    /// A plan that costs less may run on a thread that others wait for; microseconds.
    static let lightCost = 250.0

    /// So many buckets may be looked through on a thread that others wait for.
    private static let lightBuckets = 1_000

    /// The buckets of one scope by name, those that come after one; without it all. O(buckets of
    /// all scopes).
    ///
    /// - Returns: nil when `effort` is `.light` and there are too many buckets, or expired objects
    ///   to be left out.
    public func buckets(
        in scope: BucketScope, after last: BucketName?, effort: Effort
    ) -> [BucketSummary]? {
        let buckets = snapshot.buckets
        if effort == .light, buckets.count > Self.lightBuckets { return nil }
        let listed = buckets.filter { name, _ in
            name.scope == scope && last.map { $0 < name } ?? true
        }.map { (name: $0, box: $1.current(at: now)) }
        if effort == .light, listed.contains(where: { $0.box.expiredBy != nil }) { return nil }
        return listed.map { name, box in
            let (objects, geoFields) = box.contents
            return BucketSummary(
                bucket: name, objects: objects,
                geoFields: geoFields.map(\.text).sorted {
                    $0.utf8.lexicographicallyPrecedes($1.utf8)
                })
        }
        .sorted { $0.bucket < $1.bucket }
    }

    /// The document that a change wrote, as clients read it, if it is in memory.
    public func cachedDocument(creation: ChangeNumber, change: ChangeNumber) -> [UInt8]? {
        cache.document(creation: creation, change: change)
    }

    /// The document of an object as clients read it, or nil when there is no such object.
    public func document(
        of id: ObjectID, in bucket: BucketName
    ) throws(ServiceFailure) -> [UInt8]? {
        let snapshot = self.snapshot
        guard let box = box(of: bucket, in: snapshot), let slot = box.slot(of: id) else {
            return nil
        }
        let record = box.state.records[Int(slot)]
        return try document(creation: record.creation, change: record.change, in: snapshot)
    }

    /// Appends the objects of one page, with commas between them, and says how it ended; nil, and
    /// nothing appended, when `effort` is `.light` and the query's plan is not.
    ///
    /// - Throws: a refusal of a page key that is not this query's, of a query that takes too long,
    ///   or of documents that cannot be read.
    public func query(
        _ request: PageRequest, effort: Effort, into writer: inout JSONWriter
    ) throws(ServiceFailure) -> PageEnd? {
        let query = request.query
        let key = try pageKey(of: request)
        let deadline = self.deadline
        func prepare() -> Prepared? {
            prepared(
                query.clause, order: query.order, pageObjects: pageObjects(query),
                in: request.bucket)
        }
        guard var prepared = prepare() else { return PageEnd(objects: 0) }
        if effort == .light, prepared.plan.cost > Self.lightCost { return nil }
        wish(for: prepared, in: request.bucket, by: request.principal)
        guard awaitColumns(&prepared, of: request.bucket, effort, deadline, prepare) else {
            return PageEnd(objects: 0)
        }
        let end = try parsers.withParser { [prepared] parser throws(ServiceFailure) in
            let execution = Execution(
                engine: self, snapshot: prepared.snapshot, box: prepared.planner.box,
                query: query, plan: prepared.plan, parser: parser, effort: effort,
                deadline: deadline)
            let page = try execution.page(after: key, objects: pageObjects(query))
            return try write(page, execution, request, into: &writer)
        }
        if end != nil { planCounters.count(prepared.plan) }
        return end
    }

    /// How many objects satisfy a clause, 0 where there is no such bucket; nil when `effort` is
    /// `.light` and counting is not.
    ///
    /// - Parameter principal: who asks: the columns that are made for the query count against it.
    public func count(
        _ clause: Clause, in bucket: BucketName, by principal: String?, effort: Effort
    ) throws(ServiceFailure) -> Int? {
        let deadline = self.deadline
        func prepare() -> Prepared? { prepared(clause, in: bucket) }
        guard var prepared = prepare() else { return 0 }
        let isLight = prepared.plan.cost <= Self.lightCost
        if effort == .light, !isLight, prepared.plan.path.isCostlyToCount { return nil }
        if let count = countWithoutVisiting(prepared.plan, prepared.state) { return count }
        if effort == .light, !isLight { return nil }
        wish(for: prepared, in: bucket, by: principal)
        guard awaitColumns(&prepared, of: bucket, effort, deadline, prepare) else { return 0 }
        planCounters.count(prepared.plan)
        var count = 0
        try forEachMatch(clause, prepared, effort, deadline) { _ in count += 1 }
        return count
    }

    /// The objects that satisfy a clause, by the changes that created them, in that order.
    public func objects(
        satisfying clause: Clause, in bucket: BucketName
    ) throws(ServiceFailure) -> [ChangeNumber] {
        guard let prepared = prepared(clause, in: bucket) else { return [] }
        wish(for: prepared, in: bucket, by: nil)
        var found: [ChangeNumber] = []
        try forEachMatch(clause, prepared, .any, deadline) {
            found.append(prepared.state.records[Int($0)].creation)
        }
        return found.sorted()
    }

    /// The numbers of objects and points, and what they take in memory, of the present snapshot;
    /// what the store knows is left for the caller to fill in.
    public func statistics() -> BackendStatistics {
        let snapshot = self.snapshot
        var statistics = BackendStatistics()
        statistics.buckets = snapshot.buckets.count
        statistics.objects = snapshot.totals.objects
        statistics.points = snapshot.totals.points
        statistics.columns = snapshot.totals.columns
        statistics.memory = snapshot.totals.memory
        statistics.memory.documentCache = cache.bytes
        statistics.memory.supersededDocuments = snapshot.superseded.totalBytes
        statistics.change = snapshot.change
        return statistics
    }

    func pageKey(of request: PageRequest) throws(ServiceFailure) -> PageKey? {
        try request.query.paginationKey.map { text throws(ServiceFailure) in
            try keys.decode(text, for: request.query, in: request.bucket)
        }
    }

    func planner(for query: Query, in box: BucketBox) -> Planner {
        Planner(
            box: box, clause: query.clause, order: query.order,
            pageObjects: pageObjects(query))
    }

    /// A query's cheapest plan on one snapshot.
    ///
    /// A class because it is handed on much and holds much: copies would count many references.
    private final class Prepared {
        let snapshot: Snapshot
        let planner: Planner
        let plan: Plan

        var state: BucketState { planner.box.state }

        init(_ snapshot: Snapshot, _ planner: Planner) {
            self.snapshot = snapshot
            self.planner = planner
            plan = planner.cheapest()
        }
    }

    /// Nil when there is no such bucket.
    ///
    /// - Parameter pageObjects: nil to find all that satisfies the clause.
    private func prepared(
        _ clause: Clause, order: [OrderKey] = [], pageObjects: Int? = nil, in bucket: BucketName
    ) -> Prepared? {
        let snapshot = self.snapshot
        return box(of: bucket, in: snapshot).map {
            Prepared(
                snapshot,
                Planner(box: $0, clause: clause, order: order, pageObjects: pageObjects))
        }
    }

    /// When a query that begins now has taken as long as it may.
    var deadline: ContinuousClock.Instant {
        .now + .milliseconds(limits.queryMilliseconds)
    }

    /// Waits for the columns that a query misses, where for want of them it would read very many
    /// documents one by one: they are made out of the table as it lies, which is many times faster.
    ///
    /// - Returns: whether there is still such a bucket.
    private func awaitColumns(
        _ prepared: inout Prepared, of bucket: BucketName, _ effort: Effort,
        _ deadline: ContinuousClock.Instant, _ prepare: () -> Prepared?
    ) -> Bool {
        // What cannot be made leaves time for the documents, which tell why.
        let end = deadline - .milliseconds(limits.queryMilliseconds / 10)
        // A thread that others wait for does not sleep.
        while effort != .light, prepared.plan.documents >= tuning.documentsForWaiting,
            works.isMaking(prepared.planner.missing, of: bucket), !effort.isStopped,
            ContinuousClock.now < end
        {
            usleep(Self.columnPause)
            guard let next = prepare() else { return false }
            prepared = next
        }
        return true
    }

    /// Microseconds between two looks whether columns have been made.
    private static let columnPause: UInt32 = 5_000

    /// Has made, for queries to come, what would have made this one cheaper.
    private func wish(for prepared: Prepared, in bucket: BucketName, by principal: String?) {
        guard prepared.state.count >= tuning.smallestBucket else { return }
        let missing = prepared.planner.missing
        if !missing.isEmpty, prepared.plan.documents >= tuning.documentsForColumn {
            works.want(missing, of: bucket, for: principal)
        }
        guard prepared.plan.candidates >= tuning.candidatesForOrder else { return }
        let wanted = prepared.planner.wantedOrders(
            beyond: prepared.plan, gain: tuning.gainForOrder)
        for field in wanted { works.wantOrder(of: ColumnName(bucket: bucket, field: field)) }
    }

    func pageObjects(_ query: Query) -> Int {
        min(query.limit ?? limits.pageObjects, limits.pageObjects)
    }

    /// - Note: What is estimated is to visit every candidate; to count them by nodes costs less.
    private func countWithoutVisiting(_ plan: Plan, _ state: BucketState) -> Int? {
        guard plan.filter.isEmpty, case .all = plan.documentFilter else {
            return plan.countedMatches
        }
        switch plan.path {
        case .nothing: return 0
        case .scan: return state.count
        case .ids(let slots): return slots.count
        case .union, .lookup, .ordered: return nil
        case .geo(let clause), .nearest(let clause, _, _):
            return state.fields[clause.field]?.count(in: clause.shape)
        }
    }

    private func forEachMatch(
        _ clause: Clause, _ prepared: Prepared, _ effort: Effort,
        _ deadline: ContinuousClock.Instant, _ body: (Slot) -> Void
    ) throws(ServiceFailure) {
        try parsers.withParser { parser throws(ServiceFailure) in
            let execution = Execution(
                engine: self, snapshot: prepared.snapshot, box: prepared.planner.box,
                query: Query(clause: clause), plan: prepared.plan, parser: parser, effort: effort,
                deadline: deadline)
            try execution.forEachMatch(body)
        }
    }

    /// Writes as many of a page's matches as fit, at least one, and says how it goes on; nil where
    /// that takes more effort than there is.
    private func write(
        _ page: (matches: [Execution.Match], hasMore: Bool), _ execution: Execution,
        _ request: PageRequest, into writer: inout JSONWriter
    ) throws(ServiceFailure) -> PageEnd? {
        let start = writer.count
        let pages = PageWriter(
            execution, request.query, page.matches, limit: request.maximumBytes)
        guard let ends = try pages.write(to: &writer) else { return nil }
        // Back to the last object behind which the next page's key, if there is one, still fits.
        for count in stride(from: ends.count, to: 0, by: -1) {
            let isLast = count == page.matches.count && !page.hasMore
            let key =
                isLast ? nil : try self.key(behind: page.matches[count - 1], execution, request)
            let size = ends[count - 1] - start + (key.map(PageEnd.keyMemberBytes) ?? 0)
            if size <= request.maximumBytes || count == 1 {
                writer.truncate(to: ends[count - 1])
                return PageEnd(objects: count, nextPaginationKey: key)
            }
        }
        return PageEnd(objects: 0)
    }

    private func key(
        behind match: Execution.Match, _ execution: Execution, _ request: PageRequest
    ) throws(ServiceFailure) -> String {
        let key = PageKey(
            sortKey: try execution.sortKey(of: match),
            creation: execution.box.state.records[Int(match.slot)].creation,
            id: ObjectID(
                trusted: String(decoding: execution.box.state.id(of: match.slot), as: UTF8.self)))
        return keys.encode(key, for: request.query, in: request.bucket)
    }
}
