import Backend
import Glibc
import InMemoryEngine
import JSONText
import Logging
import ObjectStore
import Objects
import Runtime

/// The default backend: an in-memory engine over one SQLite file, joined by one writer.
///
///     let backend = try EmbeddedBackend(path: "shops.sqlite", limits: Limits(), logger: logger)
///     backend.submit(.put(…)) { result in … }     // called when it is durable and visible
///     try backend.close()
public final class EmbeddedBackend: Backend {
    /// `sqlite`.
    public let storeName = "sqlite"
    private let store: ObjectStore
    private let engine: InMemoryEngine
    private let writer: Writer
    private let exports: Exports
    private let housekeeping: Housekeeping
    private let backupSlot = BackupSlot()
    private let logger: Logger

    /// Opens or makes the store and reads what the engine needs of it.
    ///
    /// - Parameters:
    ///   - durability: what an answered write survives.
    ///   - tuning: from what on work that pays in large buckets is done.
    ///   - now: milliseconds since 1970; the system's clock unless a test says otherwise.
    public init(
        path: String, durability: ObjectStore.Durability = .full, limits: Limits, logger: Logger,
        tuning: InMemoryEngine.Tuning = InMemoryEngine.Tuning(),
        now: @escaping @Sendable () -> Int64 = wallMilliseconds
    ) throws(StoreFailure) {
        let store = try ObjectStore(
            path: path, durability: durability, logBytes: limits.logBytes)
        unlink(BackupJob.path(besides: path))  // a backup that a crash ended
        let wakeup = WriterWakeup()
        let engine = InMemoryEngine(
            limits: limits, secret: store.secret, source: StoredDocuments(store: store),
            tuning: tuning, now: now, backgroundWorkReady: { wakeup.fire() })
        try store.scan { scan in
            try engine.load(
                buckets: scan.buckets, fields: scan.fields, change: try scan.lastChange(),
                scan.forEachObject)
        }
        self.store = store
        self.engine = engine
        self.logger = logger
        writer = Writer(
            store: store, engine: engine, limits: limits, tuning: tuning, logger: logger, now: now)
        exports = Exports(limits: limits)
        housekeeping = Housekeeping(
            store: store, engine: engine, writer: writer, exports: exports,
            tick: tuning.housekeeping, logger: logger, now: now)
        wakeup.connect(writer)
        engine.want(
            remembered: ColumnCatalogue.decode(try store.setting(ColumnCatalogue.setting) ?? []))
    }

    /// Waits for the writes that were submitted, then closes the store. A full disk does not keep it
    /// open: the write-ahead log stays until the next start.
    public func close() throws(StoreFailure) {
        housekeeping.stop()
        engine.stopBackgroundWork()
        writer.end()
        do {
            try store.close()
        } catch .full {
            logger.warning("the disk is full: the write-ahead log stays beside the store")
        }
    }

    /// Returns when everything submitted has been answered and nothing is being made beside it.
    public func settle() {
        repeat {
            repeat { writer.drain() } while !engine.isSettled
            // What was made last may just be put in place.
            writer.drain()
        } while !engine.isSettled
    }

    /// Checks and plans a read, on the engine's present state.
    public func prepare(_ request: consuming ReadRequest) throws(ServiceFailure) -> any PreparedRead
    {
        try engine.prepare(request)
    }

    /// Appends an object, whole, as clients read it, from memory or from the file.
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

    /// Holds the present state of a bucket, to be read piece by piece.
    ///
    /// - Throws: `TOO_MANY_REQUESTS` where no more states can be held.
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

    /// Queues a write for the writer's thread; the completion is called when the write's
    /// transaction is durable and visible, or has failed.
    public func submit(
        _ write: Write, key: RequestKey?, by owner: String,
        completion: @escaping @Sendable (Result<WriteAnswer, ServiceFailure>) -> Void
    ) {
        writer.submit(write, key, by: owner, completion)
    }

    /// Compares the file with everything that is derived from it, at one state; writes go on.
    public func check(until stop: StopSignal?) throws(ServiceFailure) -> CheckReport {
        do {
            let (frozen, state) = try writer.holding {
                () throws(StoreFailure) in (try store.freeze(), engine.present())
            }
            return try StoreCheck.run(frozen, against: state, until: stop)
        } catch {
            throw ServiceFailure(error)
        }
    }

    /// Holds the present state of the file, to be copied piece by piece; one backup at a time.
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

    /// The engine's numbers, with the sizes of the file and its log, SQLite's memory, and the
    /// writer's queue.
    public func statistics() -> BackendStatistics {
        var statistics = engine.statistics()
        statistics.memory.storeCache = ObjectStore.memoryBytes
        statistics.storeBytes = store.fileBytes
        statistics.commits = writer.commits
        statistics.waitingWrites = writer.waiting
        return statistics
    }
}

extension ServiceFailure {
    /// What a client is told of a failure of the store: no path, no SQL.
    init(_ failure: StoreFailure) {
        switch failure {
        case .full: self.init(.storeFull, "the disk is full; nothing was written")
        case .busy:
            self.init(.temporarilyUnavailable, "the store is in use by another process; try again")
        default: self.init(.undefined, failure.description)
        }
    }
}
