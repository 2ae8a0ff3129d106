import Backend
import GRDB
import GRDBSQLite
import Geodesy
import Objects
import Synchronization

/// The objects on disk: one SQLite file, the one truth that everything in memory derives from.
///
///     let store = try ObjectStore(path: "shops.sqlite")
///     try store.write { transaction in … }       // durable when it returns
///
/// A write-ahead log, taken into the file by checkpoints of a connection of its own (`checkpoint`). One
/// process holds a store at a time; within it one thread writes while others read.
public final class ObjectStore: Sendable {
    /// The path of the file as it was given; the log lies beside it, with `-wal` behind its name.
    public let path: String
    /// Authenticates page keys; made once, kept in the store.
    public let secret: [UInt8]

    let pool: DatabasePool
    let checkpoints: DatabaseQueue
    let logBytes: Int
    let lock: StoreLock
    let files: StoreFiles
    private let busyTimeout: BusyTimeout
    /// How much of the log was in the file after the last checkpoint: another value is news.
    let takenBytes = Atomic(0)
    /// What the writer has written into the log since the last checkpoint began.
    let writtenBytes = Atomic(0)
    /// Bytes of the file when the log was last begun anew.
    let begunAt = Atomic(0)
    /// Bytes of the log after the last checkpoint.
    let loggedBytes = Atomic(0)

    /// What a write survives once it has been answered.
    public enum Durability: String, Sendable, CaseIterable {
        /// Loss of power: the log is synced with every transaction.
        case full
        /// The end of the process, whatever ends it; of a machine that loses power, the last writes
        /// may be lost, whole ones from the end backwards.
        case normal
    }

    /// Opens a store, makes or migrates it.
    ///
    /// - Parameter logBytes: see `Limits`.
    /// - Throws: a `StoreFailure` that says why not; the file is then as it was.
    public init(
        path: String, durability: Durability = .full, logBytes: Int = Limits().logBytes
    ) throws(StoreFailure) {
        self.path = path
        self.logBytes = logBytes
        do {
            lock = try StoreLock(path: path)
            files = lock.files(at: path)
            busyTimeout = BusyTimeout()
            try Self.inspect(path)
            let synchronous = "PRAGMA synchronous = \(durability.rawValue)"
            var configuration = Configuration()
            configuration.busyMode = .callback { [busyTimeout] in busyTimeout.waits(tried: $0) }
            // The one writer sees to it: each insertion would look its bucket up.
            configuration.foreignKeysEnabled = false
            configuration.maximumReaderCount = 4
            configuration.prepareDatabase { [files] db in
                // A connection that is opened later opens what is at the path then.
                guard files.isFileInPlace else { throw StoreFailure.displaced(path: path) }
                try db.execute(sql: synchronous)
                try db.execute(sql: "PRAGMA cache_size = -65536")
                try db.execute(sql: "PRAGMA wal_autocheckpoint = 0")
                // Room for what is written while a long log is caught up with: a log that is made
                // shorter each time costs each transaction after it a longer file.
                try db.execute(sql: "PRAGMA journal_size_limit = \(2 * logBytes)")
            }
            pool = try DatabasePool(path: path, configuration: configuration)
            // GRDB turns the writer's syncing down when it turns the log on.
            try pool.writeWithoutTransaction { try $0.execute(sql: synchronous) }
            checkpoints = try DatabaseQueue(path: path, configuration: configuration)
            try Schema.migrator.migrate(pool)
            secret = try pool.write(Self.secret)
        } catch {
            throw StoreFailure(error, path: path)
        }
    }

    /// Ends every connection; the write-ahead log goes into the file and is removed.
    ///
    /// - Throws: why the log stays beside the file; nothing is lost, the next opening takes it in.
    public func close() throws(StoreFailure) {
        defer { lock.release() }
        do {
            try checkpoints.close()
            try pool.close()
            guard files.isFileInPlace else { throw StoreFailure.displaced(path: path) }
            // The pool's last connections are readers, which cannot clean up; one that writes can.
            let last = try DatabaseQueue(path: path)
            try last.unsafeRead { db in try db.execute(sql: "PRAGMA wal_checkpoint(TRUNCATE)") }
            try last.close()
        } catch {
            throw StoreFailure(error, path: path)
        }
    }

    /// Refuses what is not a store of ours, without writing to it.
    private static func inspect(_ path: String) throws {
        guard let size = StoreLock.size(of: path), size > 0 else { return }
        var configuration = Configuration()
        configuration.readonly = true
        configuration.busyMode = .timeout(3)
        let queue = try DatabaseQueue(path: path, configuration: configuration)
        try queue.unsafeRead { try check($0, path: path) }
        try queue.close()
    }

    static func check(_ db: Database, path: String) throws {
        let application = try Int32.fetchOne(db, sql: "PRAGMA application_id") ?? 0
        let tables = try Int.fetchOne(db, sql: "SELECT count(*) FROM sqlite_schema") ?? 0
        if tables > 0 && application != Schema.applicationID {
            throw StoreFailure.foreign(path: path)
        }
        let version = try Int.fetchOne(db, sql: "PRAGMA user_version") ?? 0
        let superseded = tables > 0 ? try Schema.migrator.hasBeenSuperseded(db) : false
        if version > Schema.version || superseded {
            // A migration that is not known stands for a version after ours.
            throw StoreFailure.newer(
                path: path, version: max(version, Schema.version + 1), known: Schema.version)
        }
    }

    private static let secretBytes = 32

    private static func secret(_ db: Database) throws -> [UInt8] {
        let name = "page key secret"
        let stored = try SQLStatement(db, "SELECT value FROM setting WHERE name = ?1")
            .bind(1, name).first { $0.bytes(0).map { Array($0) } ?? [] }
        if let stored {
            guard stored.count == secretBytes else {
                throw StoreFailure.damaged("its secret for page keys cannot be read")
            }
            return stored
        }
        var generator = SystemRandomNumberGenerator()
        let fresh = (0..<secretBytes).map { _ in UInt8.random(in: 0...255, using: &generator) }
        try SQLStatement(db, "INSERT INTO setting (name, value) VALUES (?1, ?2)")
            .bind(1, name).bind(2, blob: fresh).run()
        return fresh
    }

    /// Runs one transaction on the calling thread; it is durable when this returns, and nothing
    /// happened when it throws a `StoreFailure`.
    public func write<Result>(
        _ body: (StoreTransaction) throws -> Result
    ) throws(StoreFailure) -> Result {
        do {
            var result: Result?
            try pool.writeWithoutTransaction { db in
                try db.inTransaction(.immediate) {
                    let transaction = try StoreTransaction(db)
                    result = try body(transaction)
                    try transaction.finish()
                    try files.check()
                    return .commit
                }
                countWritten(db)
            }
            busyTimeout.succeeded()
            return result!
        } catch {
            throw StoreFailure(error, path: path)
        }
    }

    /// What was set under a name.
    public func setting(_ name: String) throws(StoreFailure) -> [UInt8]? {
        do {
            return try pool.unsafeRead { db in
                try SQLStatement(db, "SELECT value FROM setting WHERE name = ?1")
                    .bind(1, name).first { $0.bytes(0).map { Array($0) } ?? [] }
            }
        } catch {
            throw StoreFailure(error, path: path)
        }
    }

    /// Keeps a value, of at least one byte, under a name.
    public func set(_ name: String, to value: [UInt8]) throws(StoreFailure) {
        do {
            try files.check()
            try pool.writeWithoutTransaction { db in
                try SQLStatement(
                    db, "INSERT OR REPLACE INTO setting (name, value) VALUES (?1, ?2)"
                ).bind(1, name).bind(2, blob: value).run()
            }
        } catch {
            throw StoreFailure(error, path: path)
        }
    }

    /// Whether there are objects that have expired at a time.
    public func hasExpired(at now: Int64) throws(StoreFailure) -> Bool {
        do {
            return try pool.unsafeRead { db in
                try SQLStatement(db, "SELECT 1 FROM expiry WHERE time <= ?1 LIMIT 1")
                    .bind(1, now).first { _ in true } ?? false
            }
        } catch {
            throw StoreFailure(error, path: path)
        }
    }

    /// The present state of an object by its creation number, or nil when it is gone.
    public func document(
        creation: ChangeNumber
    ) throws(StoreFailure) -> (change: ChangeNumber, text: [UInt8])? {
        do {
            return try pool.unsafeRead { db in
                try StoredRow.select(db, creation: creation).map { ($0.change, $0.document) }
            }
        } catch {
            throw StoreFailure(error, path: path)
        }
    }

    /// The present states of some objects by their creation numbers, all of one state of the store.
    public func documents(
        creations: [ChangeNumber]
    ) throws(StoreFailure) -> [(change: ChangeNumber, text: [UInt8])?] {
        do {
            return try pool.unsafeRead { db in
                var found: [(change: ChangeNumber, text: [UInt8])?] = []
                found.reserveCapacity(creations.count)
                // One lock of the file for all of them.
                try db.inTransaction(.deferred) {
                    for creation in creations {
                        let row = try StoredRow.select(db, creation: creation)
                        found.append(row.map { ($0.change, $0.document) })
                    }
                    return .commit
                }
                return found
            }
        } catch {
            throw StoreFailure(error, path: path)
        }
    }

    /// Calls `body` with every object of one state of a bucket, as clients read it, in no particular
    /// order, until it returns false; damaged ones are passed over.
    ///
    /// - Complexity: O(objects of all buckets).
    public func forEachDocument(
        in bucket: BucketName, _ body: (_ creation: ChangeNumber, _ document: [UInt8]) -> Bool
    ) throws(StoreFailure) {
        do {
            try pool.read { db in
                let sql =
                    "SELECT \(StoredRow.columns) FROM object "
                    + "WHERE bucket = (SELECT number FROM bucket WHERE name = ?1)"
                let rows = try SQLStatement(db, sql).bind(1, bucket.text)
                defer { rows.reset() }
                while try rows.step() {
                    let row = StoredRow(rows)
                    // What is damaged is passed over.
                    if row.isWhole, !body(row.creation, row.document) { break }
                }
            }
        } catch {
            throw StoreFailure(error, path: path)
        }
    }

    /// - Throws: `StoreFailure.displaced` when the file, or one of those beside it, is not where it was:
    ///   then nothing is written.
    public func checkFiles() throws(StoreFailure) { try files.check() }

    /// What SQLite has allocated in this process: mostly the page caches of its connections.
    public static var memoryBytes: Int { Int(sqlite3_memory_used()) }

    /// Bytes of the file and its write-ahead log.
    public var fileBytes: Int { sizeOfFile + (StoreLock.size(of: path + "-wal") ?? 0) }

    var sizeOfFile: Int { StoreLock.size(of: path) ?? 0 }
}
