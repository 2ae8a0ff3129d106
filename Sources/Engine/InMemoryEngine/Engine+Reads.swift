import BackendContract
import Objects
import QueryLanguage
import Runtime
import SpatialIndex

extension Engine {
    /// Checks and plans a read, on the present state.
    public func prepare(_ request: consuming ReadRequest) throws(ServiceFailure) -> any PreparedRead
    {
        switch consume request {
        case .page(let query, let bucket, let principal):
            try PreparedPage(query, in: bucket, by: principal, on: self)
        case .count(let clause, let bucket, let principal):
            PreparedAggregation(Query(clause: clause), in: bucket, by: principal, on: self)
        case .aggregation(let query, let bucket, let principal):
            PreparedAggregation(query, in: bucket, by: principal, on: self)
        case .explanation(let query, let bucket, let analyze):
            try PreparedExplanation(query, in: bucket, analyze: analyze, on: self)
        case .clusters(let query, let bucket, let principal):
            PreparedClusters.prepared(query, in: bucket, by: principal, on: self)
        case .fields(let bucket): PreparedFields(of: bucket, on: self)
        case .hints(let query, let bucket, let mayName):
            PreparedHints(query, in: bucket, mayName: mayName, on: self)
        case .buckets(let scope, let last, let names, let isListed):
            PreparedListing(scope, after: last, among: names, where: isListed, on: self)
        }
    }

    /// The document that a change wrote, as clients read it; nil if it is not in memory.
    public func cachedDocument(creation: ChangeNumber, change: ChangeNumber) -> [UInt8]? {
        cache.document(creation: creation, change: change)
    }

    /// The document of an object as clients read it; nil if the object does not exist.
    public func document(
        of id: ObjectID, in bucket: BucketName
    ) throws(ServiceFailure) -> [UInt8]? {
        let snapshot = self.snapshot
        guard let bucketView = bucketView(of: bucket, in: snapshot),
            let slot = bucketView.slot(of: id)
        else {
            return nil
        }
        let record = bucketView.state.records[Int(slot)]
        return try document(creation: record.creation, change: record.change, in: snapshot)
    }

    /// Statistics of the present state: its size, memory and queue, but not the numbers of a store.
    ///
    /// - Complexity: O(1), because each change updates the totals.
    public func statistics() -> BackendStatistics {
        let snapshot = self.snapshot
        var statistics = BackendStatistics()
        statistics.buckets = snapshot.buckets.count
        statistics.objects = snapshot.totals.objects
        statistics.points = snapshot.totals.points
        statistics.columns = snapshot.totals.columns
        statistics.memory = snapshot.totals.memory
        statistics.memory.points += PointIndex.gridBytes
        statistics.memory.documentCache = cache.bytes
        statistics.memory.supersededDocuments = snapshot.superseded.totalBytes
        statistics.change = snapshot.change
        statistics.scans = planCounters.scans
        return statistics
    }

    /// The objects on a page for which a query sets this limit.
    func pageObjects(_ limit: Int?) -> Int {
        min(limit ?? limits.pageObjects, limits.pageObjects)
    }

    func pageKey(
        of query: Query, in bucket: BucketName
    ) throws(ServiceFailure) -> PageKey? {
        guard let text = query.paginationKey else { return nil }
        return try keys.decode(text, for: query, in: bucket)
    }

    /// The bounds of a search that is estimated to be cheap, on a thread that others wait for.
    var briefBounds: ReadBounds {
        ReadBounds(deadline: clock.deadline(after: tuning.briefSearch), stop: nil)
    }

    /// The bounds of a query that begins now.
    func bounds(until stop: StopSignal? = nil) -> ReadBounds {
        let time = Duration.milliseconds(limits.queryMilliseconds)
        return ReadBounds(deadline: clock.deadline(after: time), stop: stop)
    }
}
