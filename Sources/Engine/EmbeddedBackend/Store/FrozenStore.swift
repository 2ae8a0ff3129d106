import BackendContract
import GRDB
import Glibc
import Objects

/// One state of a store, held for the lifetime of this object while writers continue.
///
/// - Note: It holds a read transaction, which prevents a restart of the write-ahead log.
public final class FrozenStore: Sendable {
    /// The path of the store's file.
    public let path: String
    private let reader: any DatabaseReader
    /// Prevents services from writing to a file that SQLite treats as immutable.
    private let hold: StoreLock?

    /// - Parameter reader: a connection with an open transaction.
    init(_ reader: any DatabaseReader, path: String, hold: StoreLock? = nil) {
        self.reader = reader
        self.path = path
        self.hold = hold
    }

    /// The present state of a store, which another process may be serving. Nothing is changed.
    ///
    /// It needs no write permission, even if no log lies beside the file. If the file belongs to
    /// somebody else, or SQLite may not make a log, no service can begin to serve the store during the
    /// lifetime of this object.
    ///
    /// - Parameter takesOlder: whether it may be of an earlier schema. It can only be copied then.
    public convenience init(path: String, takesOlder: Bool = false) throws(StoreFailure) {
        try StoreLock.checkFile(path)
        guard let size = StoreLock.size(of: path) else { throw .notFound(path: path) }
        guard size > 0 else { throw .notADatabase(path: path) }
        let (reader, hold) = try Self.opened(path)
        if !takesOlder { try Self.checkVersion(of: reader, path: path) }
        self.init(reader, path: path, hold: hold)
    }

    private static func opened(
        _ path: String
    ) throws(StoreFailure) -> (DatabaseQueue, StoreLock?) {
        // To read a file with a log, SQLite makes the log's files, which belong to whoever reads. The
        // service of another user could not write them, so it gets none to find.
        if !isOwn(path), isAtRest(path), let hold = StoreLock(sharing: path) {
            return (try unchanging(path), hold)
        }
        do {
            return (try connection(path, to: path), nil)
        } catch {
            guard wantsLog(error), let hold = StoreLock(sharing: path) else {
                throw StoreFailure(error, path: path)
            }
            guard isAtRest(path) else {
                throw .failed(
                    "\(path) cannot be read: its log lies beside it, and only who may write there can "
                        + "read both")
            }
            return (try unchanging(path), hold)
        }
    }

    /// A connection to a file that nobody changes meanwhile.
    private static func unchanging(_ path: String) throws(StoreFailure) -> DatabaseQueue {
        do {
            return try connection(unchangingURI(path), to: path)
        } catch {
            throw StoreFailure(error, path: path)
        }
    }

    /// Whether the file belongs to this process's user.
    private static func isOwn(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_uid == geteuid()
    }

    /// Whether no log with something in it lies beside the file.
    private static func isAtRest(_ path: String) -> Bool {
        ["-wal", "-journal"].allSatisfy { StoreLock.size(of: path + $0) ?? 0 == 0 }
    }

    /// A connection with an open transaction.
    private static func connection(_ name: String, to path: String) throws -> DatabaseQueue {
        var configuration = Configuration()
        configuration.readonly = true
        configuration.busyMode = .timeout(3)
        configuration.allowsUnsafeTransactions = true
        let queue = try DatabaseQueue(path: name, configuration: configuration)
        try queue.inDatabase { db in
            try db.beginTransaction(.deferred)
            try SQLiteStore.check(db, path: path)
        }
        return queue
    }

    private static func checkVersion(
        of reader: DatabaseQueue, path: String
    ) throws(StoreFailure) {
        do {
            let version = try reader.unsafeRead { try Int.fetchOne($0, sql: "PRAGMA user_version") }
            guard version == Schema.version else {
                throw StoreFailure.older(path: path, version: version ?? 0, known: Schema.version)
            }
        } catch {
            throw StoreFailure(error, path: path)
        }
    }

    /// Whether SQLite failed because it may not create the log that it needs for reading.
    private static func wantsLog(_ error: any Error) -> Bool {
        switch (error as? DatabaseError)?.resultCode {
        case .SQLITE_READONLY?, .SQLITE_CANTOPEN?: true
        default: false
        }
    }

    /// - Reference: SQLite, "Uniform Resource Identifiers", `immutable`.
    private static func unchangingURI(_ path: String) -> String {
        let escaped = path.replacing("%", with: "%25").replacing("?", with: "%3F")
            .replacing("#", with: "%23")
        return (path.hasPrefix("/") ? "file://" : "file:") + escaped + "?immutable=1"
    }

    /// The document of an object by its creation number; nil if the object did not exist in this
    /// state.
    public func document(
        creation: ChangeNumber
    ) throws(StoreFailure) -> (change: ChangeNumber, text: [UInt8])? {
        try read { db in
            try StoredRow.select(db, creation: creation).map { ($0.change, $0.document) }
        }
    }

    /// Reads the state from beginning to end. The scan is valid only inside `body`.
    ///
    /// - Throws: a `StoreFailure`; other errors of `body` are converted to one.
    public func scan<Result>(_ body: (StoreScan) throws -> Result) throws(StoreFailure) -> Result {
        try read { db in try body(try StoreScan(db)) }
    }

    /// Ends what SQLite does at present for a reader of this state, which then throws. Any thread may
    /// call this.
    public func interrupt() { reader.interrupt() }

    func read<Result>(_ body: (Database) throws -> Result) throws(StoreFailure) -> Result {
        do {
            return try reader.unsafeRead(body)
        } catch {
            throw StoreFailure(error, path: path)
        }
    }
}

extension SQLiteStore {
    /// The page cache of a frozen state's connection, in KiB. It is small because there may be many
    /// such connections, and each reads most pages once.
    private static let frozenCache = 4_096

    /// Holds the present state. It must not be called inside a transaction of the writer.
    public func freeze() throws(StoreFailure) -> FrozenStore {
        try files.check()  // the new connection would open the file that is at the path now
        do {
            let snapshot = try pool.makeSnapshot()
            try snapshot.unsafeRead {
                try $0.execute(sql: "PRAGMA cache_size = -\(Self.frozenCache)")
            }
            return FrozenStore(snapshot, path: path)
        } catch {
            throw StoreFailure(error, path: path)
        }
    }
}
