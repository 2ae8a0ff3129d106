import Backend
import GRDB
import Objects

/// One state of a store, as long as this exists; writers go on.
///
/// - Note: It holds a read transaction: the write-ahead log is not begun anew meanwhile.
public final class FrozenStore: Sendable {
    /// The path of the store's file.
    public let path: String
    private let reader: any DatabaseReader
    /// Keeps services from beginning to write to a file that SQLite takes for unchanging.
    private let hold: StoreLock?

    /// - Parameter reader: a connection inside a transaction.
    init(_ reader: any DatabaseReader, path: String, hold: StoreLock? = nil) {
        self.reader = reader
        self.path = path
        self.hold = hold
    }

    /// The present state of a store that another process may be serving; nothing is changed.
    ///
    /// Without permission to write too, also where no log lies beside the file: no service can then begin
    /// to serve it as long as this exists.
    public convenience init(path: String) throws(StoreFailure) {
        try StoreLock.checkFile(path)
        guard let size = StoreLock.size(of: path) else { throw .notFound(path: path) }
        guard size > 0 else { throw .notADatabase(path: path) }
        let (reader, hold) = try Self.opened(path)
        self.init(reader, path: path, hold: hold)
    }

    private static func opened(
        _ path: String
    ) throws(StoreFailure) -> (DatabaseQueue, StoreLock?) {
        do {
            return (try connection(path, to: path), nil)
        } catch {
            guard wantsLog(error), let hold = StoreLock(sharing: path) else {
                throw StoreFailure(error, path: path)
            }
            guard StoreLock.size(of: path + "-wal") ?? 0 == 0 else {
                throw .failed(
                    "\(path) cannot be read: its log lies beside it, and only who may write there can "
                        + "read both")
            }
            do {
                return (try connection(unchangingURI(path), to: path), hold)
            } catch {
                throw StoreFailure(error, path: path)
            }
        }
    }

    /// A connection inside a transaction.
    private static func connection(_ name: String, to path: String) throws -> DatabaseQueue {
        var configuration = Configuration()
        configuration.readonly = true
        configuration.busyMode = .timeout(3)
        configuration.allowsUnsafeTransactions = true
        let queue = try DatabaseQueue(path: name, configuration: configuration)
        try queue.inDatabase { db in
            try db.beginTransaction(.deferred)
            try ObjectStore.check(db, path: path)
            let version = try Int.fetchOne(db, sql: "PRAGMA user_version") ?? 0
            guard version == Schema.version else {
                throw StoreFailure.older(path: path, version: version, known: Schema.version)
            }
        }
        return queue
    }

    /// Whether SQLite failed as it does where it may not make the log that it reads beside.
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

    /// The state of an object by its creation number, or nil when it was not there.
    public func document(
        creation: ChangeNumber
    ) throws(StoreFailure) -> (change: ChangeNumber, text: [UInt8])? {
        try read { db in
            try StoredRow.select(db, creation: creation).map { ($0.change, $0.document) }
        }
    }

    /// Reads the state from its beginning to its end. The scan is valid inside `body` only.
    ///
    /// - Throws: `StoreFailure`, also for any other error of `body`.
    public func scan<Result>(_ body: (StoreScan) throws -> Result) throws(StoreFailure) -> Result {
        try read { db in try body(try StoreScan(db)) }
    }

    func read<Result>(_ body: (Database) throws -> Result) throws(StoreFailure) -> Result {
        do {
            return try reader.unsafeRead(body)
        } catch {
            throw StoreFailure(error, path: path)
        }
    }
}

extension ObjectStore {
    /// KiB of pages kept by the connection of a state: there may be many, and each reads most pages once.
    private static let frozenCache = 4_096

    /// Holds the present state; not to be called inside a transaction of the writer's.
    public func freeze() throws(StoreFailure) -> FrozenStore {
        try files.check()  // its connection would open what is at the path now
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
