import BackendContract
import GRDB
import GRDBSQLite
import Geodesy
import Glibc
import Objects
import Runtime
import Synchronization

/// The objects on disk, in one SQLite file. Everything in memory is derived from this file.
///
///     let store = try SQLiteStore(path: "shops.sqlite")
///     try store.write { transaction in … }       // durable when it returns
///
/// It uses a write-ahead log; checkpoints on a separate connection copy the log into the file
/// (`checkpoint`). One process at a time holds a store. Within that process, one thread writes
/// while others read.
public final class SQLiteStore: Sendable {
    /// The path of the file as it was given. The path of the log is the same with the suffix
    /// `-wal`.
    public let path: String
    /// Authenticates page keys. It is generated once and kept in the store.
    public let secret: [UInt8]

    let pool: DatabasePool
    let checkpoints: DatabaseQueue
    let logBytes: Int
    let lock: StoreLock
    let files: StoreFiles
    private let busyTimeout: BusyTimeout
    /// How much of the log was in the file after the last checkpoint. A different value means
    /// progress.
    let takenBytes = Atomic(0)
    /// The bytes that the writer has written to the log since the last checkpoint began.
    let writtenBytes = Atomic(0)
    /// Called on the writer's thread whenever so much has been written since the last checkpoint that
    /// the next one is due at once.
    public let checkpointDue = Callback()
    /// The size of the file when the log was last restarted.
    let begunAt = Atomic(0)
    /// Whether the file of a log that is begun anew is cut off behind its new frames.
    let cutsRemains = Atomic(false)
    /// The length of the log after the last checkpoint, in bytes.
    let loggedBytes = Atomic(0)
    /// The pages of the file, and those that hold nothing, when they were last counted.
    let pages = Atomic(0)
    let unusedPages = Atomic(0)
    /// The documents that were read since the caches were last looked at.
    private let documentReads = Atomic(0)

    /// The failures that an answered write survives.
    public enum Durability: String, Sendable, CaseIterable {
        /// A loss of power. The log is synced with every transaction.
        case full
        /// Any end of the process. If the machine loses power, the last writes may be lost: only
        /// whole writes, and only the latest ones.
        case normal
        /// Any end of the process. After a loss of power the file may be damaged.
        case none = "off"
    }

    /// Opens a store; creates or migrates it if necessary.
    ///
    /// - Parameter logBytes: see `Limits`.
    /// - Throws: a `StoreFailure` with the reason. The file is then unchanged.
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
            // The one writer ensures the foreign keys. With checks on, each insertion would look up
            // its bucket.
            configuration.foreignKeysEnabled = false
            configuration.maximumReaderCount = 4
            configuration.prepareDatabase { [files] db in
                // A connection opens the file that is at the path when the connection is opened.
                guard files.isFileInPlace else { throw StoreFailure.displaced(path: path) }
                try db.execute(sql: synchronous)
                // Of a new file only: another takes it over when it is rebuilt. It is a write.
                if !db.configuration.readonly, try Self.number(db, "page_count") == 0 {
                    try db.execute(sql: "PRAGMA auto_vacuum = INCREMENTAL")
                }
                try db.execute(sql: "PRAGMA cache_size = -65536")
                try db.execute(sql: "PRAGMA wal_autocheckpoint = 0")
                // Leaves room for the data that is written while a checkpoint catches up with a
                // long log. If the log were truncated each time, each later transaction would have
                // to extend it again.
                try db.execute(sql: "PRAGMA journal_size_limit = \(2 * logBytes)")
            }
            pool = try DatabasePool(path: path, configuration: configuration)
            // GRDB lowers the writer's synchronous level when it enables the log.
            try pool.writeWithoutTransaction { try $0.execute(sql: synchronous) }
            checkpoints = try DatabaseQueue(path: path, configuration: configuration)
            try Schema.migrator.migrate(pool)
            secret = try pool.write(Self.secret)
            try cutRemainsForLitestream()
        } catch {
            throw StoreFailure(error, path: path)
        }
    }

    /// Closes every connection. The write-ahead log is copied into the file and removed.
    ///
    /// - Throws: the reason why the log stays beside the file. Nothing is lost: the next opening
    ///   reads the log.
    public func close() throws(StoreFailure) {
        defer { lock.release() }
        do {
            try checkpoints.close()
            try pool.close()
            guard files.isFileInPlace else { throw StoreFailure.displaced(path: path) }
            // The pool closes its readers last, and a reader cannot remove the log; a connection
            // that writes can.
            let last = try DatabaseQueue(path: path)
            try last.unsafeRead { db in try db.execute(sql: "PRAGMA wal_checkpoint(TRUNCATE)") }
            try last.close()
        } catch {
            throw StoreFailure(error, path: path)
        }
    }

    /// Rejects a file that is not a store of this program, without writing to it.
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
            // An unknown migration means a later version than this program's.
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

    /// Runs one transaction on the calling thread. The transaction is durable when this returns,
    /// and has no effect when this throws a `StoreFailure`.
    public func write<Result>(
        _ body: (StoreTransaction) throws -> Result
    ) throws(StoreFailure) -> Result {
        do {
            var result: Result?
            try pool.writeWithoutTransaction { db in
                try Self.inTransaction(db) {
                    let transaction = try StoreTransaction(db)
                    result = try body(transaction)
                    try transaction.finish()
                    try files.check()
                }
                countWritten(db)
            }
            busyTimeout.succeeded()
            return result!
        } catch {
            throw StoreFailure(error, path: path)
        }
    }

    /// Runs `body` in a transaction whose statements stay prepared. GRDB would parse them each time.
    private static func inTransaction(_ db: Database, _ body: () throws -> Void) throws {
        try SQLStatement(db, "BEGIN IMMEDIATE").run()
        do {
            try body()
            try SQLStatement(db, "COMMIT").run()
        } catch {
            // The first error says what has happened. After some of them SQLite has rolled back itself.
            try? db.rollback()
            throw error
        }
    }

    /// At least so many documents read between two calls of `releaseIdleCaches` keep the caches.
    private static let busyReads = 1_000

    /// Lets the connections free their pages in memory, each after what it does at present, unless
    /// many documents were read since the last call: their readers would read the pages again.
    public func releaseIdleCaches() {
        guard documentReads.exchange(0, ordering: .relaxed) < Self.busyReads else { return }
        pool.releaseMemoryEventually()
    }

    /// The value that was stored under a name.
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

    /// Stores a value of at least one byte under a name.
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

    /// Whether any object has expired at a time.
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

    /// The present document of an object by its creation number; nil if the object has been
    /// deleted.
    public func document(
        creation: ChangeNumber
    ) throws(StoreFailure) -> (change: ChangeNumber, text: [UInt8])? {
        documentReads.add(1, ordering: .relaxed)
        do {
            return try pool.unsafeRead { db in
                try StoredRow.select(db, creation: creation).map { ($0.change, $0.document) }
            }
        } catch {
            throw StoreFailure(error, path: path)
        }
    }

    /// The present documents of some objects by their creation numbers, all from one state of the
    /// store.
    public func documents(
        creations: [ChangeNumber]
    ) throws(StoreFailure) -> [(change: ChangeNumber, text: [UInt8])?] {
        documentReads.add(creations.count, ordering: .relaxed)
        do {
            return try pool.unsafeRead { db in
                var found: [(change: ChangeNumber, text: [UInt8])?] = []
                found.reserveCapacity(creations.count)
                // One transaction, so that the file is locked once for all of them.
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

    /// Calls `body` with every object of a bucket at one state, as clients read it, in no
    /// particular order, until it returns false. Damaged objects are skipped.
    ///
    /// - Complexity: O(objects of all buckets).
    public func forEachDocument(
        in bucket: BucketName, _ body: (_ creation: ChangeNumber, _ document: [UInt8]) -> Bool
    ) throws(StoreFailure) {
        do {
            try pool.read { db in
                let sql =
                    "SELECT \(StoredRow.columns) FROM object "
                    + "WHERE bucket = (SELECT number FROM bucket WHERE name = ?1) "
                    + "ORDER BY creation"
                var deleted = try ListedCreations(db).walk()
                let rows = try SQLStatement(db, sql).bind(1, bucket.text)
                defer { rows.reset() }
                while try rows.step() {
                    if deleted.contains(rows.int(0)) { continue }
                    let row = StoredRow(rows)
                    // Skips damaged objects.
                    if row.isWhole, !body(row.creation, row.document) { break }
                }
            }
        } catch {
            throw StoreFailure(error, path: path)
        }
    }

    /// - Throws: `StoreFailure.displaced` if the file, or a file beside it, has been moved,
    ///   replaced or deleted. Nothing is written then.
    public func checkFiles() throws(StoreFailure) { try files.check() }

    /// The memory that SQLite has allocated in this process, mostly for the page caches of its
    /// connections.
    public static var memoryBytes: Int { Int(sqlite3_memory_used()) }

    /// The size of the file and its write-ahead log, in bytes.
    public var fileBytes: Int { sizeOfFile + (StoreLock.size(of: path + "-wal") ?? 0) }

    /// The size of the disk that the file is on, in bytes, and how much of it this process may use; 0
    /// if that is not known.
    public var diskSpace: (bytes: Int, free: Int) {
        var status = statvfs()
        guard statvfs(path, &status) == 0 else { return (0, 0) }
        let block = Int(status.f_frsize)
        return (Int(status.f_blocks) * block, Int(status.f_bavail) * block)
    }

    var sizeOfFile: Int { StoreLock.size(of: path) ?? 0 }
}
