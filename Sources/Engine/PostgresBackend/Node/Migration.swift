import BackendContract
import EmbeddedBackend
import Foundation
import Objects
import Runtime

/// A copy of a whole store of another kind: of a file in PostgreSQL, or of tables in a file.
///
///     let migration = try Migration.run(from: "shops.sqlite", to: address) { print($0) }
///
/// Everything that clients can see is the same afterwards: objects with their numbers and times,
/// page keys, what was done under request keys.
public struct Migration: Sendable {
    /// The number of buckets.
    public private(set) var buckets = 0
    /// The number of objects.
    public private(set) var objects = 0
    /// The number of deletions that are remembered.
    public private(set) var tombstones = 0
    /// The number of writes that are remembered by their key.
    public private(set) var requests = 0

    /// Copies a file, which nobody may serve, into tables that are empty. If this throws, they still
    /// are.
    ///
    /// - Parameter progress: called from time to time with the number of objects so far.
    public static func run(
        from path: String, to address: PostgresAddress, progress: (Int) -> Void
    ) throws(StoreFailure) -> Migration {
        guard FileManager.default.fileExists(atPath: path) else { throw .notFound(path: path) }
        let store = try SQLiteStore(path: path)
        defer { try? store.close() }
        do {
            let tables = try connect(address)
            let transaction = try ClusterTransaction(filling: tables)
            return try fill(transaction, tables, from: store, progress)
        } catch let failure as PostgresFailure {
            throw StoreFailure(failure)
        } catch {
            throw StoreFailure(error, path: path)
        }
    }

    private static func fill(
        _ transaction: ClusterTransaction, _ tables: ClusterTables, from store: SQLiteStore,
        _ progress: (Int) -> Void
    ) throws -> Migration {
        let state = try store.freeze()
        var migration = Migration()
        try state.forEachPart { part in
            try transaction.add(part)
            migration.note(part, progress)
        }
        try compare(try state.digests(), try tables.digests())
        try transaction.commit(
            filledTo: try state.scan { try $0.lastChange() }, secret: store.secret)
        return migration
    }

    /// Copies the present state of the tables into a new file. If this throws, the file is of no
    /// use.
    ///
    /// - Parameter progress: called from time to time with the number of objects so far.
    public static func run(
        from address: PostgresAddress, to path: String, progress: (Int) -> Void
    ) throws(StoreFailure) -> Migration {
        do {
            let tables = try connect(address)
            let store = try SQLiteStore(path: path, durability: .normal)
            do {
                let migration = try fill(store, from: tables, progress)
                try compare(try tables.digests(), try store.freeze().digests())
                try store.close()
                return migration
            } catch {
                try? store.close()
                throw error
            }
        } catch let failure as PostgresFailure {
            throw StoreFailure(failure)
        } catch {
            throw StoreFailure(error, path: path)
        }
    }

    private static func fill(
        _ store: SQLiteStore, from tables: ClusterTables, _ progress: (Int) -> Void
    ) throws -> Migration {
        try store.set("page key secret", to: try tables.secret())
        var migration = Migration()
        func add(_ part: StorePart) throws {
            try store.write { try $0.add(part) }
            migration.note(part, progress)
            _ = try store.checkpoint()
        }
        let tail = try tables.copy(add)
        try tables.history(add)
        try store.write { $0.advance(to: tail.head.change) }
        return migration
    }

    private mutating func note(_ part: StorePart, _ progress: (Int) -> Void) {
        switch part {
        case .changes(let changes):
            buckets += changes.buckets.count
            objects += changes.objects.count
            tombstones += changes.tombstones.count
        case .requests(let requests): self.requests += requests.count
        }
        progress(objects)
    }

    private static func compare(
        _ source: [BucketName: BucketDigest], _ target: [BucketName: BucketDigest]
    ) throws(StoreFailure) {
        guard source != target else { return }
        let bucket = Set(source.keys).union(target.keys).sorted().first { source[$0] != target[$0] }
        throw .failed(
            "bucket \(bucket?.text ?? "") differs in the copy, which was therefore not kept")
    }

    private static let connectTime = Duration.seconds(10)
    /// A comparison reads everything before the server answers.
    private static let answerTime = Duration.seconds(3_600)

    /// Connects, trying again for a while.
    private static func connect(
        _ address: PostgresAddress
    ) throws(PostgresFailure) -> ClusterTables {
        let clock = ServiceClock()
        let deadline = clock.deadline(after: connectTime)
        while true {
            do throws(PostgresFailure) {
                return try ClusterTables(address, answerTime: answerTime, clock: clock)
            } catch {
                guard case .unavailable = error, !deadline.isOver else { throw error }
                pause(Outage.pause)
            }
        }
    }
}
