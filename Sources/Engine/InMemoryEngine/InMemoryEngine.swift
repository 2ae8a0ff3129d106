import Backend
import HashTreeCollections
import JSONText
import Objects
import QueryLanguage
import Runtime
import SpatialIndex
import Synchronization

/// The buckets in memory: snapshots that readers query, and the one writer's way to the next one.
///
/// Everything here derives from the store and can be rebuilt from it. Readers take the current
/// snapshot under a lock held for some nanoseconds and need no lock afterwards.
public final class InMemoryEngine: Sendable {
    let limits: Limits
    let keys: PageKeyCodec
    let cache: DocumentCache
    let parsers = ParserPool()
    let planCounters = PlanCounters()
    private let source: any DocumentSource
    /// The clock by which objects expire, in milliseconds since 1970.
    let now: @Sendable () -> Int64
    private let current: Mutex<Snapshot>
    private let merges: BackgroundMerges
    private let jobs: BucketJobs
    private let compactionThread = WorkThread("compaction", .background)
    private let columnThread = WorkThread("columns", .background)
    private let freeingThread = WorkThread("freeing", .background)
    let columnRequests: ColumnRequests
    let tuning: Tuning

    /// From what on work that pays in large buckets is done, and how much of it at once. Tests have
    /// everything happen in small ones.
    public struct Tuning: Sendable {
        /// Objects of a bucket, at least.
        public var smallestBucket = 64
        /// A query that would read so many documents because it has no column asks for one.
        public var documentsForColumn = 64
        /// A query that would read so many documents waits for a column that is being made.
        public var documentsForWaiting = 20_000
        /// A query that would look at so many candidates because it has no order asks for one.
        public var candidatesForOrder = 4_096
        /// How many times cheaper an order would have to make it.
        public var gainForOrder = 4.0
        /// Documents that are read at once, for columns that are being made.
        public var documentsAtOnce = 1_024
        /// How long a column that did not fit is not tried again.
        public var refusal = Duration.seconds(60)
        /// Holes among a bucket's slots, at least, for it to be renumbered…
        public var holes = 64
        /// …and one slot of so many, more than that.
        public var slotsPerHole = 4
        /// Objects that the writer takes on itself, when something was made of a bucket beside it.
        public var objectsTakenOn = 128
        /// Points that an index takes before they become a tree; at least 8.
        public var pointsPerTree = PointIndex.defaultDeltaCapacity
        /// How long hardly any of an index's points is written, at least, before it becomes one tree.
        public var rest = Duration.seconds(1)
        /// Objects of a bucket from which `deleteWhere` does not hand each document to the engine.
        public var objectsForFreezing = 1_000
        /// What is removed in one transaction of what has expired, or been remembered long enough.
        public var removedAtOnce = 1_000
        /// A search that is estimated to be cheap, but takes longer than this on a thread that others
        /// wait for, is begun anew on a worker thread.
        public var briefSearch = Duration.milliseconds(2)
        /// How often is looked whether a checkpoint is due; five times that long for the rest.
        public var housekeeping = Duration.milliseconds(200)

        /// The values that a service runs with.
        public init() {}
    }

    /// - Parameters:
    ///   - secret: authenticates page keys; the same after a restart.
    ///   - source: where documents come from that are not cached.
    ///   - now: the clock by which objects expire, in milliseconds since 1970.
    ///   - backgroundWorkReady: called on some thread when the result of background work waits for
    ///     `installBackgroundWork`.
    public init(
        limits: Limits, secret: [UInt8], source: any DocumentSource, tuning: Tuning = Tuning(),
        now: @escaping @Sendable () -> Int64,
        backgroundWorkReady: @escaping @Sendable () -> Void = {}
    ) {
        self.limits = limits
        self.source = source
        self.now = now
        keys = PageKeyCodec(secret: secret)
        cache = DocumentCache(capacityBytes: limits.documentCacheBytes)
        current = Mutex(
            Snapshot(
                change: 0, buckets: [:], totals: Snapshot.Totals(),
                superseded: SupersededDocuments(total: ByteCount())))
        merges = BackgroundMerges(rest: tuning.rest, ready: backgroundWorkReady)
        jobs = BucketJobs(objectsTakenOn: tuning.objectsTakenOn, ready: backgroundWorkReady)
        columnRequests = ColumnRequests(
            columnsPerMinute: limits.columnsPerMinute, refusal: tuning.refusal,
            due: backgroundWorkReady)
        self.tuning = tuning
    }

    var snapshot: Snapshot { current.withLock { $0 } }

    // MARK: The writer's side. One thread at a time.

    /// Keeps a document that the transaction under way replaces or deletes, for the readers of the
    /// present state. To be called before the commit.
    public func supersede(_ document: [UInt8], change: ChangeNumber) {
        snapshot.superseded.keep(document, change: change)
    }

    /// Keeps all documents as they are, for the readers of the present state, before a transaction
    /// that deletes many; nil lets go of them, as that transaction has failed.
    public func supersedeAll(_ present: (any PresentDocuments)?) {
        snapshot.superseded.keepAll(present)
    }

    /// The next state, to be changed by the transaction under way.
    public func nextSnapshot() -> NextSnapshot {
        NextSnapshot(snapshot, pointsPerTree: tuning.pointsPerTree)
    }

    /// Makes committed changes visible, all at once.
    ///
    /// - Parameter nextSnapshot: of the present state.
    public func publish(_ nextSnapshot: NextSnapshot, upTo change: ChangeNumber) {
        for position in nextSnapshot.changes.indices {
            switch nextSnapshot.changes[position] {
            case .upsert(let object, let text):
                cache.put(
                    object.metadata.written(around: text), creation: object.creation,
                    change: object.change)
            case .delete(_, let creations):
                for creation in creations { cache.remove(creation: creation) }
            case .deleteBucket(let name): columnRequests.forget(name)
            }
        }
        jobs.note(nextSnapshot.changes, parsers)
        nextSnapshot.dropWornColumns(columnRequests)
        finish(nextSnapshot, change: change)
    }

    /// Puts in place what was made in the background: merged tiers, renumbered buckets, columns and
    /// their orders; and has the next columns made.
    ///
    /// - Complexity: O(1) but for some hundred objects that were written meanwhile.
    public func installBackgroundWork() {
        let next = nextSnapshot()
        finish(next, change: next.base.change)
    }

    /// Ends what is being made in the background, and returns when nothing reads the store any more.
    public func stopBackgroundWork() {
        jobs.stop()
        columnThread.drain()
    }

    /// Begins to put in order in the background the indexes that writes have left in peace for a
    /// while; to be called from time to time, on any thread.
    public func mergeAtRest(_ now: ContinuousClock.Instant = .now) {
        let snapshot = snapshot
        merges.startAtRest(now) { bucket, field in snapshot.bucket(bucket)?.fields[field] }
    }

    /// Has columns made again that there were before the start.
    public func want(remembered columns: [ColumnName]) { columnRequests.want(remembered: columns) }

    /// The columns there are or will be, if they are others than at the last call; without those of
    /// fields that no object has.
    public func takeChangedColumns() -> [ColumnName]? { columnRequests.takeChangedNames() }

    /// Whether nothing is being made in the background but merges.
    public var isSettled: Bool { columnRequests.isIdle && jobs.isIdle }

    private func finish(_ next: NextSnapshot, change: ChangeNumber) {
        let finished = jobs.finished()
        next.install(merges.finished())
        next.install(finished, columnRequests)
        next.evictColumns(columnRequests, over: limits.memoryBytes)
        let published = next.snapshot(change: change)
        free(finished, next.replaced)
        publish(published)
        if !finished.isEmpty { columnRequests.changes.signal() }
        jobs.published(next.touched)
        for (name, state) in next.touched {
            if state.isSparse(tuning) {
                jobs.start(CompactionJob(state), of: name, state, on: compactionThread) {}
            }
            for (field, index) in state.fields { merges.start(index, field: field, bucket: name) }
            for (field, entry) in state.columns.entries where entry.index?.isWorn == true {
                columnRequests.wantOrder(of: ColumnName(bucket: name, field: field))
            }
        }
        makeNext(of: published)
    }

    /// Lets go of what a transaction has replaced, and of jobs whose results were not taken, on a
    /// thread of their own: it may be millions of pieces.
    private func free(_ jobs: [BucketJobs.Finished], _ replaced: [BucketView]) {
        guard !jobs.isEmpty || !replaced.isEmpty else { return }
        // Later than most readers, or one of those would free it on its thread.
        freeingThread.async(after: Self.freedAfter) {
            withExtendedLifetime((jobs, replaced)) {}
        }
    }

    private static let freedAfter = Duration.seconds(1)

    /// Begins to make the columns or the order that were asked for first.
    private func makeNext(of snapshot: Snapshot) {
        while let (bucket, item) = columnRequests.next(where: jobs.isBusy) {
            guard let state = snapshot.bucket(bucket), let job = job(item, of: bucket, state) else {
                columnRequests.forget(item, of: bucket)
                columnRequests.ended()
                continue
            }
            jobs.start(job, of: bucket, state, on: columnThread) { [columnRequests] in
                columnRequests.ended()
            }
        }
    }

    /// One of so many objects of the store is as well found by reading all of them.
    private static let shareOfFew = 8

    /// Nil where there is nothing to be made any more.
    private func job(
        _ item: ColumnRequests.Item, of bucket: BucketName, _ state: BucketState
    ) -> (any BucketJob)? {
        switch item {
        case .order(let field): return OrderJob(field, state)
        case .columns(let fields):
            return ColumnJob(
                fields, of: bucket, state, source: source,
                areFew: state.count * Self.shareOfFew < snapshot.totals.objects,
                columnLimit: limits.bucketColumns, documentsAtOnce: tuning.documentsAtOnce)
        }
    }

    func publish(_ next: Snapshot) {
        current.withLock { current in
            current.superseded.end(next: next.superseded)
            current = next
        }
    }

    // MARK: The readers' side.

    /// A bucket of a snapshot, as a reader now sees it.
    func bucketView(of bucket: BucketName, in snapshot: Snapshot) -> BucketView? {
        snapshot.buckets[bucket]?.current(at: now)
    }

    /// The document of an object as a snapshot has it.
    func document(
        creation: ChangeNumber, change: ChangeNumber, in snapshot: Snapshot
    ) throws(ServiceFailure) -> [UInt8] {
        if let cached = cache.document(creation: creation, change: change) { return cached }
        let record = BucketState.SlotRecord(creation: creation, change: change)
        return try checked(try source.document(creation: creation), of: record, in: snapshot)
    }

    /// The documents of some objects as a snapshot has them; what is not in memory is read together.
    func documents(
        of records: [BucketState.SlotRecord], in snapshot: Snapshot
    ) throws(ServiceFailure) -> [[UInt8]] {
        var found = cache.withDocuments(of: records) { $0.map { $0.map { Array($0) } } }
        let missing = found.indices.filter { found[$0] == nil }
        if !missing.isEmpty {
            let stored = try source.documents(creations: missing.map { records[$0].creation })
            for (position, stored) in zip(missing, stored) {
                found[position] = try checked(stored, of: records[position], in: snapshot)
            }
        }
        return found.map { $0! }
    }

    /// What the store has of an object if that is still what a snapshot has, and otherwise what was
    /// kept of it.
    private func checked(
        _ stored: (change: ChangeNumber, text: [UInt8])?, of record: BucketState.SlotRecord,
        in snapshot: Snapshot
    ) throws(ServiceFailure) -> [UInt8] {
        let (creation, change) = (record.creation, record.change)
        if let stored, stored.change == change {
            var copy = JSONWriter(reserving: stored.text.count)
            copy.raw(stored.text)
            cache.put(copy, creation: creation, change: change)
            return stored.text
        }
        if let kept = try snapshot.superseded.document(creation: creation, change: change) {
            return kept
        }
        throw ServiceFailure(
            .undefined, "the document of change \(change) is neither stored nor kept")
    }
}
