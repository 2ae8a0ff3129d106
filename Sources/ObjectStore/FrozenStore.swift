import Backend
import GRDB
import Objects

/// One state of a store, as long as this exists; writers go on.
///
/// - Note: It holds a read transaction: the write-ahead log is not begun anew meanwhile.
public final class FrozenStore: Sendable {
    public let path: String
    private let reader: any DatabaseReader

    /// - Parameter reader: a connection inside a transaction.
    init(_ reader: any DatabaseReader, path: String) {
        self.reader = reader
        self.path = path
    }

    /// The present state of a store that another process may be serving; nothing is changed.
    public convenience init(path: String) throws(StoreFailure) {
        guard let size = StoreLock.size(of: path) else { throw .notFound(path: path) }
        guard size > 0 else { throw .notADatabase(path: path) }
        var configuration = Configuration()
        configuration.readonly = true
        configuration.busyMode = .timeout(3)
        configuration.allowsUnsafeTransactions = true
        do {
            let queue = try DatabaseQueue(path: path, configuration: configuration)
            try queue.inDatabase { db in
                try db.beginTransaction(.deferred)
                try ObjectStore.check(db, path: path)
            }
            self.init(queue, path: path)
        } catch {
            throw StoreFailure(error, path: path)
        }
    }

    /// The state of an object by its creation number, or nil when it was not there.
    public func document(
        creation: ChangeNumber
    ) throws(StoreFailure) -> (change: ChangeNumber, text: [UInt8])? {
        try read { db in
            try StoredRow.select(db, creation: creation).map { ($0.change, $0.document) }
        }
    }

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
    /// Holds the present state; not to be called inside a transaction of the writer's.
    public func freeze() throws(StoreFailure) -> FrozenStore {
        do {
            return FrozenStore(try pool.makeSnapshot(), path: path)
        } catch {
            throw StoreFailure(error, path: path)
        }
    }
}
