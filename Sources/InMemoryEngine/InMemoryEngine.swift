import Backend
import HashTreeCollections
import JSONText
import Objects
import QueryLanguage
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
    private let compactions: Compactions
    let works: ColumnWorks
    let tuning: Tuning

    /// When columns and their orders are worth making.
    public struct Tuning: Sendable {
        /// Objects of a bucket, at least.
        public var smallestBucket = 64
        /// Documents that a query would read for want of a column.
        public var documentsForColumn = 64
        /// Documents that a query would read for want of a column that is being made; it waits.
        public var documentsForWaiting = 20_000
        /// Candidates that a query would look at for want of an order.
        public var candidatesForOrder = 4_096
        /// How many times cheaper an order would have to make it.
        public var gainForOrder = 4.0

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
        merges = BackgroundMerges(ready: backgroundWorkReady)
        compactions = Compactions(ready: backgroundWorkReady)
        works = ColumnWorks(source: source, due: backgroundWorkReady)
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
    public func successor() -> Successor { Successor(snapshot) }

    /// Makes committed changes visible, all at once.
    ///
    /// - Parameter successor: of the present state.
    public func publish(_ successor: Successor, upTo change: ChangeNumber) {
        for place in successor.changes.indices {
            switch successor.changes[place] {
            case .upsert(let object, let text):
                cache.put(
                    object.metadata.written(around: text), creation: object.creation,
                    change: object.change)
            case .delete(_, let creations):
                for creation in creations { cache.remove(creation: creation) }
            case .deleteBucket(let name): works.forget(name)
            }
        }
        compactions.note(successor.changes)
        successor.dropWornColumns(works)
        finish(successor, change: change)
    }

    /// Puts in place what was made beside the writer: merged tiers, renumbered buckets, columns and
    /// their orders.
    public func installBackgroundWork() {
        let snapshot = snapshot
        let next = Successor(snapshot)
        let begun = next.take(works)
        next.evictColumns(works, over: limits.memoryBytes)
        finish(next, change: snapshot.change)
        for columns in begun {
            works.fill(columns.fillings, of: columns.bucket, few: columns.few)
        }
    }

    /// Begins to put in order, beside the writer, the indexes that writes have left in peace for a
    /// while; to be called from time to time, on any thread.
    public func mergeAtRest(_ now: ContinuousClock.Instant = .now) {
        let snapshot = snapshot
        merges.startAtRest(now) { bucket, field in snapshot.bucket(bucket)?.fields[field] }
    }

    /// Has columns made, as queries would have.
    public func want(_ columns: [ColumnName]) {
        for (bucket, names) in Dictionary(grouping: columns, by: \.bucket) {
            works.want(names.map(\.field), of: bucket)
        }
    }

    /// The columns there are or will be, if they are others than at the last call.
    public func takeChangedColumns() -> [ColumnName]? { works.takeChangedPlaces().map(Array.init) }

    /// Whether no columns are being made beside the writer.
    public var isSettled: Bool { works.isIdle }

    private func finish(_ next: Successor, change: ChangeNumber) {
        next.install(merges.finished())
        next.install(compactions.finished(), works)
        let published = next.snapshot(change: change)
        publish(published)
        for (name, state) in next.touched {
            if state.isSparse { compactions.start(state, of: name) }
            for (field, index) in state.fields { merges.start(index, field: field, bucket: name) }
        }
    }

    func publish(_ next: Snapshot) {
        current.withLock { current in
            current.superseded.end(next: next.superseded)
            current = next
        }
    }

    // MARK: The readers' side.

    /// A bucket of a snapshot, without what has expired.
    func box(of bucket: BucketName, in snapshot: Snapshot) -> BucketBox? {
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
            for (place, stored) in zip(missing, stored) {
                found[place] = try checked(stored, of: records[place], in: snapshot)
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
            try checkIsJSON(stored.text)
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

    /// A damaged row must not become a line that is no JSON.
    private func checkIsJSON(_ document: [UInt8]) throws(ServiceFailure) {
        try parsers.withParser { parser throws(ServiceFailure) in
            do throws(JSONSyntaxError) {
                _ = try parser.parse(document)
            } catch {
                throw ServiceFailure(
                    .undefined, "a stored document is not JSON: \(error.message)")
            }
        }
    }
}
