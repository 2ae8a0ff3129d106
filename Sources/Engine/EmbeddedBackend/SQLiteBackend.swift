import BackendContract
import Glibc
import InMemoryEngine
import JSONText
import Logging
import Objects
import QueryLanguage
import Runtime

/// The default backend: an in-memory engine on top of one SQLite file, connected by one writer.
///
///     let backend = try SQLiteBackend(path: "shops.sqlite", limits: Limits(), logger: logger)
///     backend.submit(.put(…)) { result in … }     // called when it is durable and visible
///     try backend.close()
public final class SQLiteBackend: Backend {
    /// `sqlite`.
    public let storeName = "sqlite"
    let store: SQLiteStore
    let engine: Engine
    let writer: Writer
    private let exports: Exports
    private let housekeeping: Housekeeping
    private let backupSlot = BackupSlot()
    private let history: ChangeHistory
    private let logger: Logger
    let clock: ServiceClock

    /// Opens or creates the store, and loads the part that the engine needs.
    ///
    /// - Parameters:
    ///   - durability: the failures that an answered write survives.
    ///   - upstream: the truth of which the store is a copy; nil if the store is the truth.
    ///   - tuning: the thresholds and batch sizes of background work.
    ///   - clock: the source of time. It is the system's, except in tests.
    public init(
        path: String, durability: SQLiteStore.Durability = .full,
        upstream: (any Upstream)? = nil, limits: Limits, logger: Logger,
        tuning: Engine.Tuning = Engine.Tuning(),
        clock: ServiceClock = ServiceClock()
    ) throws(StoreFailure) {
        Housekeeping.limitFreeMemory()
        let store = try SQLiteStore(
            path: path, durability: durability, logBytes: limits.logBytes)
        unlink(BackupJob.path(besides: path))  // the remains of a backup that a crash ended
        let backgroundWorkReady = Callback()
        let engine = Engine(
            limits: limits, secret: store.secret, source: StoredDocuments(store: store),
            tuning: tuning, clock: clock, backgroundWorkReady: { backgroundWorkReady() })
        try store.scan { scan in
            try engine.load(
                buckets: scan.buckets, places: scan.places, fields: scan.fields,
                change: try scan.lastChange()
            ) { try store.forEachObject(of: scan, $0) }
        }
        self.store = store
        self.engine = engine
        self.logger = logger
        self.clock = clock
        writer = Writer(
            store: store, engine: engine, upstream: upstream, limits: limits, tuning: tuning,
            logger: logger, clock: clock)
        exports = Exports(limits: limits)
        housekeeping = Housekeeping(
            store: store, engine: engine, writer: writer, exports: exports,
            tuning: tuning, logger: logger, clock: clock)
        history = ChangeHistory(
            of: store, from: engine.change, upstream: upstream, logger: logger, clock: clock)
        engine.setHistory(mark: history.mark)
        backgroundWorkReady.set { [weak writer] in writer?.installBackgroundWork() }
        writer.removeRows(of: try store.listedDeletions())
        engine.want(
            remembered: ColumnCatalogue.decode(try store.setting(ColumnCatalogue.setting) ?? []))
    }

    /// Applies what other stores have changed. It returns when that is visible.
    public func follow(_ changes: SharedChanges) throws(StoreFailure) {
        try writer.follow(changes)
    }

    /// Prepares for a deletion of the objects that satisfy a clause, which another store is about to do.
    public func foresee(deletionOf clause: Clause, in bucket: BucketName) {
        writer.foresee(clause, in: bucket)
    }

    /// Waits for the submitted writes, then closes the store. A full disk does not prevent that:
    /// the write-ahead log then stays until the next start.
    public func close() throws(StoreFailure) {
        housekeeping.stop()
        writer.rememberUsedColumns()
        writer.drain()  // a deletion may need background work
        engine.stopBackgroundWork()
        writer.end()
        do {
            try store.close()
        } catch .full {
            logger.warning("the disk is full: the write-ahead log stays beside the store")
        }
    }

    /// Returns when every submitted write has been answered and no background work is in progress.
    public func settle() {
        repeat {
            repeat {
                writer.expectNothing()
                writer.drain()
            } while !engine.isSettled
            // The last result may be about to be installed.
            writer.drain()
        } while !engine.isSettled || writer.isRemovingRows
    }

    /// True: what is answered is visible.
    public let readsAtOnce = true

    /// Nil: no other node has to know it.
    public var answeredChange: ChangeNumber? { nil }

    /// True.
    public let isReady = true

    /// Nil: every read sees the latest.
    public var readStates: ReadStates? { nil }

    /// True, unless the reads have to see a change that has not happened.
    public func mayRead(
        _ count: Int, atLeast change: ChangeNumber?,
        _ ready: @escaping @Sendable (ServiceFailure?) -> Void
    ) -> Bool {
        guard let change else { return true }
        let last = engine.change
        if change <= last { return true }
        ready(
            ServiceFailure(
                .temporarilyUnavailable,
                "change \(change) has not happened, the last one is \(last)", at: "atLeast"))
        return false
    }

    /// Ready at once: what is answered is visible.
    public func awaitLatest(_ ready: @escaping @Sendable (ServiceFailure?) -> Void) { ready(nil) }

    /// Checks and plans a read on the engine's present state.
    public func prepare(_ request: consuming ReadRequest) throws(ServiceFailure) -> any PreparedRead
    {
        try engine.prepare(request)
    }

    /// Appends a whole object as clients read it, from memory or from the file.
    ///
    /// - Throws: `OBJECT_NOT_FOUND`.
    public func get(
        _ id: ObjectID, in bucket: BucketName, into writer: inout JSONWriter
    ) throws(ServiceFailure) {
        guard let document = try engine.document(of: id, in: bucket) else {
            throw .noObject(id, in: bucket)
        }
        writer.raw(document)
    }

    /// Holds the present state of a bucket so that it can be read piece by piece.
    ///
    /// - Throws: `TOO_MANY_REQUESTS` when too many states are already held.
    public func export(_ bucket: BucketName) throws(ServiceFailure) -> any BucketExport {
        let export = try exports.add()
        do {
            try writer.holding { () throws(StoreFailure) in
                export.begin(
                    engine.export(bucket, from: try Self.documents(of: store)),
                    logBytes: store.logLength)
            }
            return export
        } catch {
            throw ServiceFailure(error)
        }
    }

    /// Queues a write for the writer's thread. The completion is called when the write's
    /// transaction is durable and visible, or has failed.
    public func submit(
        _ write: Write, key: RequestKey?, by owner: String,
        completion: @escaping @Sendable (Result<WriteAnswer, ServiceFailure>) -> Void
    ) {
        writer.submit(write, key, by: owner, completion)
    }

    /// Begins to tell an observer of every state that becomes visible.
    public func observe(_ observer: any StateObserver) {
        engine.observe(observer, of: history)
    }

    /// Ends what `observe` began.
    public func endObservation() { engine.endObservation() }

    /// Compares the file with everything that is derived from it, at one state, while writes
    /// continue.
    public func check(until stop: StopSignal?) throws(ServiceFailure) -> CheckReport {
        try check(until: stop, following: nil).report
    }

    /// Compares the file with everything that is derived from it.
    ///
    /// - Parameter changes: called between two writes; the check is of the state that its result
    ///   leads to.
    /// - Returns: the report, and the file at the same state.
    public func check(
        until stop: StopSignal?, following changes: (() throws -> SharedChanges)?
    ) throws(ServiceFailure) -> (report: CheckReport, store: FrozenStore) {
        do {
            let (frozen, state) = try writer.holding(following: changes) {
                () throws(StoreFailure) in (try store.freeze(), engine.present())
            }
            return (try StoreCheck.run(frozen, against: .present(state), until: stop), frozen)
        } catch {
            throw ServiceFailure(error)
        }
    }

    /// Holds the present state of the file so that it can be copied piece by piece. Only one backup
    /// is copied at a time.
    ///
    /// - Throws: `TOO_MANY_REQUESTS` while another backup is being copied.
    public func backup() throws(ServiceFailure) -> any StoreBackup {
        let stop = StopSignal()
        try backupSlot.take(stop)
        do {
            return BackupJob(of: try store.freeze(), in: backupSlot, until: stop)
        } catch {
            backupSlot.free()
            throw ServiceFailure(error)
        }
    }

    /// Copies the present state of the file into a new file, while writes continue. If this throws,
    /// no file remains.
    ///
    /// - Parameter stop: ends the copying.
    public func copy(to path: String, until stop: StopSignal) throws(StoreFailure) {
        try store.freeze().copy(to: path, until: stop)
    }

    /// The engine's statistics, with the size of the file and its log, SQLite's memory, and the
    /// length of the writer's queue.
    public func statistics() -> BackendStatistics {
        var statistics = engine.statistics()
        statistics.memory.storeCache = SQLiteStore.memoryBytes
        statistics.storeBytes = store.fileBytes
        statistics.freePages = store.freePages
        (statistics.diskBytes, statistics.diskFreeBytes) = store.diskSpace
        statistics.commits = writer.commits
        statistics.waitingWrites = writer.waiting
        return statistics
    }
}

extension ServiceFailure {
    /// The failure that a client sees. It contains no path and no SQL.
    public init(_ failure: StoreFailure) {
        switch failure {
        case .full: self.init(.storeFull, "the disk is full; nothing was written")
        case .busy:
            self.init(.temporarilyUnavailable, "the store is in use by another process; try again")
        case .unreachable(let reason), .diverged(let reason):
            self.init(.temporarilyUnavailable, reason)
        case .unstorable(let reason): self.init(.invalidInputData, reason)
        default: self.init(.undefined, failure.description)
        }
    }
}
