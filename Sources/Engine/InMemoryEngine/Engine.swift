import BackendContract
import HashTreeCollections
import JSONText
import Objects
import QueryLanguage
import Runtime
import Synchronization

/// The buckets in memory: the snapshots that readers query, and the way for the one writer to
/// publish the next.
///
/// Everything here is derived from the store and can be rebuilt from it. Readers take the current
/// snapshot under a lock that is held for some nanoseconds; afterwards they need no lock.
public final class Engine: Sendable {
    let limits: Limits
    let keys: PageKeyCodec
    let cache: DocumentCache
    let parsers = JSONParserPool()
    let planCounters = PlanCounters()
    private let source: any DocumentSource
    /// Decides when objects expire and when reads are out of time.
    let clock: ServiceClock
    private let current: Mutex<Current>
    private let merges: BackgroundMerges
    let jobs: BucketJobs
    let compactionThread = WorkThread("compaction", .background)
    /// One for each lane of `BuildStages`.
    let columnThreads = (0..<BuildStages.laneCount).map {
        WorkThread("columns \($0)", .background)
    }
    private let freeingThread = WorkThread("freeing", .background)
    let columnRequests: ColumnRequests
    let tuning: Tuning
    /// Tells the change numbers of one history from those of another. Until a store names its
    /// history, it is this engine's own.
    private let era = Atomic(UInt64.random(in: 0 ... .max))

    /// - Parameters:
    ///   - secret: authenticates page keys. It has to be the same after a restart.
    ///   - source: provides documents that are not cached.
    ///   - clock: decides when objects expire and when reads are out of time.
    ///   - backgroundWorkReady: called on any thread when a result of background work waits for
    ///     `installBackgroundWork`.
    public init(
        limits: Limits, secret: [UInt8], source: any DocumentSource, tuning: Tuning = Tuning(),
        clock: ServiceClock, backgroundWorkReady: @escaping @Sendable () -> Void = {}
    ) {
        self.limits = limits
        self.source = source
        self.clock = clock
        keys = PageKeyCodec(secret: secret)
        cache = DocumentCache(capacityBytes: limits.documentCacheBytes)
        current = Mutex(
            Current(
                snapshot: Snapshot(
                    change: 0, buckets: [:], names: BucketNames(), totals: Snapshot.Totals(),
                    superseded: SupersededDocuments(
                        kept: KeptDocuments(limitBytes: limits.supersededBytes)))))
        merges = BackgroundMerges(rest: tuning.rest, clock: clock, ready: backgroundWorkReady)
        columnRequests = ColumnRequests(
            columnsPerMinute: limits.columnsPerMinute, refusal: tuning.refusal,
            clock: clock, due: backgroundWorkReady)
        jobs = BucketJobs(
            objectsTakenOn: tuning.objectsTakenOn, columnRequests, ready: backgroundWorkReady)
        self.tuning = tuning
        _ = CompactionJob.dropped  // a metric is there before it counts anything
    }

    private struct Current {
        var snapshot: Snapshot
        /// Told of every snapshot that becomes the current one.
        var observer: (any StateObserver)?
    }

    var snapshot: Snapshot { current.withLock { $0.snapshot } }

    /// What the present objects of a bucket are called. A bucket never has the same name with other
    /// objects, neither on another node nor after a restart or a restored backup.
    ///
    /// It is the history, a change at which the bucket had these objects, and how many of them have
    /// not expired: objects expire in one order, so their number says which.
    func name(of bucketView: BucketView) -> String {
        let history = String(era.load(ordering: .relaxed), radix: 36)
        return "\(history).\(bucketView.change).\(bucketView.contents.objects)"
    }

    /// Names the history whose change numbers the states have, by its mark; an empty one names none.
    public func setHistory(mark: [UInt8]) {
        guard mark.count >= 8 else { return }
        era.store(mark.prefix(8).reduce(0) { $0 << 8 | UInt64($1) }, ordering: .relaxed)
    }

    // MARK: For the writer; one thread at a time

    /// The number of the last change that is visible.
    public var change: ChangeNumber { snapshot.change }

    /// Keeps a document that the current transaction replaces or deletes, for the readers of the
    /// present state. It must be called before the commit.
    public func supersede(_ document: [UInt8], change: ChangeNumber) {
        snapshot.superseded.keep(document, change: change)
    }

    /// Keeps all present documents for the readers of the present state, before a transaction that
    /// deletes many.
    public func supersedeAll(_ present: any PresentDocuments) {
        snapshot.superseded.keepAll(present)
    }

    /// Releases what was kept for a transaction that has changed nothing.
    public func supersedeNothing() { snapshot.superseded.keepNothing() }

    /// The next state, which the current transaction changes.
    public func nextSnapshot() -> NextSnapshot {
        NextSnapshot(snapshot, pointsPerTree: tuning.pointsPerTree)
    }

    /// The number of written documents that go into the cache together.
    private static let documentsPutAtOnce = 16

    /// Makes committed changes visible, all at once.
    ///
    /// - Parameter nextSnapshot: a snapshot based on the present state.
    public func publish(_ nextSnapshot: NextSnapshot, upTo change: ChangeNumber) {
        var written: [DocumentCache.NewDocument] = []
        func putWritten() {
            cache.put(written)
            written.removeAll(keepingCapacity: true)
        }
        for position in nextSnapshot.changes.indices {
            switch nextSnapshot.changes[position] {
            case .upsert(let object, let text):
                written.append(
                    DocumentCache.NewDocument(
                        object.metadata.written(around: text), creation: object.creation,
                        change: object.change))
                if written.count == Self.documentsPutAtOnce { putWritten() }
            case .delete(_, let creations, _):
                putWritten()
                if !nextSnapshot.rowsStay || creations.count <= tuning.deletedAtOnce {
                    forgetDocuments(of: creations)
                }
            case .deleteBucket(let name): columnRequests.forget(name)
            }
        }
        putWritten()
        jobs.note(nextSnapshot.changes, parsers)
        nextSnapshot.dropWornColumns(columnRequests)
        finish(nextSnapshot, change: change)
    }

    /// Installs the results of background work: merged tiers, renumbered buckets, columns and their
    /// orders. It then starts the next column builds.
    ///
    /// - Complexity: O(1), plus the work for some hundred objects that were written meanwhile.
    public func installBackgroundWork() {
        let next = nextSnapshot()
        finish(next, change: next.base.change)
    }

    /// Cancels background work, and ends the reads that wait for it. It returns when nothing reads the
    /// store any more.
    public func stopBackgroundWork() {
        columnRequests.stop()
        jobs.stop()
        for thread in columnThreads { thread.drain() }
    }

    /// Ends the reads that have waited for columns for too long. It should be called from time to time,
    /// on any thread.
    public func endOverdueWaits() { columnRequests.endOverdueWaits() }

    /// Starts background merges of the indexes that have had no writes for a while. It should be
    /// called from time to time, on any thread.
    public func mergeAtRest() {
        let snapshot = snapshot
        merges.startAtRest { bucket, field in snapshot.bucket(bucket)?.fields[field] }
    }

    /// Requests the columns that existed before the restart, those first that were used last.
    public func want(remembered columns: [ColumnName]) { columnRequests.want(remembered: columns) }

    /// The columns that exist or are requested, the one used last first, if they differ from those of
    /// the last call. Columns of fields that no object has are left out.
    public func takeChangedColumns() -> [ColumnName]? { columnRequests.takeChangedNames() }

    /// Notes which columns queries have used since the last call, for `takeChangedColumns`.
    ///
    /// - Complexity: O(columns).
    public func noteUsedColumns() {
        let snapshot = snapshot
        let used = columnRequests.columnNames.filter { name in
            snapshot.bucket(name.bucket)?.columns.entries[name.field]?.use.takeRecent() == true
        }
        if !used.isEmpty { columnRequests.used(used) }
    }

    /// Whether no background work except merges is in progress.
    public var isSettled: Bool { columnRequests.isIdle && jobs.isIdle }

    private func finish(_ next: NextSnapshot, change: ChangeNumber) {
        let finished = jobs.finished()
        next.install(merges.finished())
        next.install(finished, columnRequests)
        next.evictColumns(columnRequests, over: limits.memoryBytes)
        let published = next.snapshot(change: change)
        free(finished, next.replaced)
        publish(published, changes: next.changes)
        if !finished.isEmpty { columnRequests.published() }
        jobs.published(next.touched)
        jobs.beginRecordings(at: published)
        for (name, state) in next.touched {
            compact(name, state)
            for (field, index) in state.fields { merges.start(index, field: field, bucket: name) }
            for (field, entry) in state.columns.entries where entry.index?.isWorn == true {
                columnRequests.wantOrder(of: ColumnName(bucket: name, field: field))
            }
        }
        makeNext(of: published)
    }

    /// Begins to renumber the slots of a bucket if many of them are free, unless a job or a recording is
    /// under way. For the writer's thread.
    public func compact(_ bucket: BucketName) {
        if let state = snapshot.bucket(bucket) { compact(bucket, state) }
    }

    private func compact(_ name: BucketName, _ state: BucketState) {
        guard state.isSparse(tuning) else { return }
        jobs.start(CompactionJob(state), of: name, state, on: compactionThread) {}
    }

    /// Frees what a transaction has replaced, and jobs whose results were not used. It does so on a
    /// separate thread because there may be millions of pieces.
    private func free(_ jobs: [BucketJobs.Finished], _ replaced: [BucketView]) {
        guard !jobs.isEmpty || !replaced.isEmpty else { return }
        // Waits until most readers are done: the last reader would otherwise free it on its own
        // thread.
        freeingThread.async(after: Self.freedAfter) {
            withExtendedLifetime((jobs, replaced)) {}
        }
    }

    private static let freedAfter = Duration.seconds(1)

    /// Starts to build the columns or orders that were requested first, as far as there are threads.
    private func makeNext(of snapshot: Snapshot) {
        while let build = columnRequests.next(
            where: { !jobs.isBusy($0) }, cost: { snapshot.bucket($0)?.count ?? 0 })
        {
            let (bucket, ticket) = (build.bucket, build.ticket)
            guard let state = snapshot.bucket(bucket), let job = job(build, state, snapshot) else {
                columnRequests.giveUp(ticket, of: bucket)
                columnRequests.leave(ticket)
                continue
            }
            jobs.start(job, of: bucket, state, on: columnThreads[build.lane]) { [columnRequests] in
                columnRequests.leave(ticket)
            }
        }
    }

    /// If more than one in this many objects of the store is needed, reading all of them is as
    /// fast.
    private static let shareOfFew = 8

    /// Returns nil if there is nothing left to build.
    private func job(
        _ build: BuildStages.Build, _ state: BucketState, _ snapshot: Snapshot
    ) -> (any BucketJob)? {
        if build.parts[0].isOrder { return OrderJob(build, state) }
        return ColumnJob(
            build, state, source: source,
            areFew: state.count * Self.shareOfFew < snapshot.totals.objects,
            columnLimit: limits.bucketColumns, documentsAtOnce: tuning.documentsAtOnce,
            isJoined: { [columnRequests] in columnRequests.wantsColumns(of: build.bucket) })
    }

    func publish(_ next: Snapshot, changes: [Change] = []) {
        let (former, observer) = current.withLock { current in
            let former = current.snapshot
            former.superseded.end(next: next.superseded)
            current.snapshot = next
            return (former, current.observer)
        }
        former.superseded.boundKept()
        observer?.follows(
            PinnedSnapshot(next, engine: self), after: PublishedStep(changes: changes))
    }

    /// Begins to tell an observer of every state, beginning with the present one.
    public func observe(_ observer: any StateObserver, of history: any StoreHistory) {
        current.withLock { current in
            current.observer = observer
            // Under the lock, so that no state comes before this one.
            observer.begins(with: PinnedSnapshot(current.snapshot, engine: self), of: history)
        }
    }

    /// Ends what `observe` began.
    public func endObservation() { current.withLock { $0.observer = nil } }

    // MARK: For the readers

    /// A bucket of a snapshot as a reader sees it now.
    func bucketView(of bucket: BucketName, in snapshot: Snapshot) -> BucketView? {
        snapshot.buckets[bucket]?.current(at: clock.milliseconds)
    }

    /// The document of an object at a snapshot.
    func document(
        creation: ChangeNumber, change: ChangeNumber, in snapshot: Snapshot
    ) throws(ServiceFailure) -> [UInt8] {
        if let cached = cache.document(creation: creation, change: change) { return cached }
        // What the step to the next snapshot superseded is what watches ask for.
        if let kept = snapshot.superseded.document(supersededNext: change) { return kept }
        let record = BucketState.SlotRecord(creation: creation, change: change)
        return try checked(try source.document(creation: creation), of: record, in: snapshot)
    }

    /// The documents of some objects at a snapshot. Those that are not in memory are read together.
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

    /// The stored document if it is still the one of the snapshot, and otherwise the superseded
    /// document that was kept.
    private func checked(
        _ stored: (change: ChangeNumber, text: [UInt8])?, of record: BucketState.SlotRecord,
        in snapshot: Snapshot
    ) throws(ServiceFailure) -> [UInt8] {
        let (creation, change) = (record.creation, record.change)
        if let stored, stored.change == change {
            var copy = JSONWriter(reserving: stored.text.count)
            copy.raw(stored.text)
            cache.put([
                DocumentCache.NewDocument(copy, creation: creation, change: change)
            ])
            return stored.text
        }
        if let kept = try snapshot.superseded.document(creation: creation, change: change) {
            return kept
        }
        throw ServiceFailure(
            .undefined, "the document of change \(change) is neither stored nor kept")
    }
}
