import CSQLite
import Dispatch
import Foundation
import Histogram
import Objects
import Synchronization
import SyntheticData
import Workloads

/// Durable updates as SQLite alone does them, on a copy of GeoBucket's store with an index of ids: one
/// prepared UPDATE by that index, groups of a given size, the log synced with each.
struct RawUpdates {
    /// How the log gets into the file.
    enum LogPolicy {
        /// Every second beside the updates, and to its end between two of them when it is longer than
        /// the service lets it become.
        case asService
        /// As SQLite does it of itself: by the update that makes it longer than 1,000 pages.
        case bySQLite
    }

    let path: String
    let objects: Int
    let log: LogPolicy

    /// Copies a store that no service has open.
    static func copy(_ store: String, to path: String) throws {
        try? FileManager.default.removeItem(atPath: path)
        try FileManager.default.copyItem(atPath: store, toPath: path)
        let database = try open(path)
        defer { sqlite3_close_v2(database) }
        try run(
            prepare(
                database, "CREATE UNIQUE INDEX IF NOT EXISTS object_by_id ON object(bucket, id)"))
    }

    /// - Returns: updates a second; milliseconds of a group.
    func run(
        group: Int, seconds: Double, _ document: (Int) -> String
    ) throws -> (perSecond: Double, p50: Double, p99: Double) {
        let database = try Self.open(path)
        defer { sqlite3_close_v2(database) }
        let checkpoints = log == .asService ? try Checkpoints(path) : nil
        defer { checkpoints?.stop() }
        if log == .bySQLite { sqlite3_wal_autocheckpoint(database, 1_000) }
        let update = try Self.prepare(
            database,
            "UPDATE object SET change = :change, version = version + 1, document = :document "
                + "WHERE bucket = (SELECT number FROM bucket WHERE name = :bucket) AND id = :id")
        update.bind(GeoBucketServer.bucket, ":bucket")
        let begin = try Self.prepare(database, "BEGIN IMMEDIATE")
        let commit = try Self.prepare(database, "COMMIT")
        let checkpoint = try Self.prepare(database, "PRAGMA wal_checkpoint(PASSIVE)")
        var random = SplitMix64(seed: 7)
        let documents = (0..<10_000).map { _ in
            let object = random.below(objects)
            return (id: Dataset.id(object), text: document(object))
        }
        var groups = Histogram<UInt64>(numberOfSignificantValueDigits: .three)
        var done = 0
        let start = now()
        while now() < start + UInt64(seconds * 1e9) {
            let groupStart = now()
            try Self.run(begin)
            for _ in 0..<group {
                let (id, text) = documents[done % documents.count]
                update.bind(id, ":id")
                update.bind(text, ":document")
                update.bind(Double(1_000_000_000 + done), ":change")
                try Self.run(update)
                done += 1
            }
            try Self.run(commit)
            if checkpoints?.isLogLong == true { try Self.run(checkpoint) }
            groups.record(now() - groupStart)
        }
        let elapsed = Double(now() - start) / 1e9
        return (
            Double(done) / elapsed, Double(groups.valueAtPercentile(50)) / 1e6,
            Double(groups.valueAtPercentile(99)) / 1e6
        )
    }

    private static func run(_ statement: SQLiteStatement) throws {
        while try statement.step() {}
        statement.reset()
    }

    fileprivate static func open(_ path: String) throws -> OpaquePointer? {
        var database: OpaquePointer?
        guard sqlite3_open(path, &database) == SQLITE_OK else { throw Failure("\(path): no store") }
        let settings =
            "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 0; "
            + "PRAGMA cache_size = -65536; PRAGMA busy_timeout = 3000"
        guard sqlite3_exec(database, settings, nil, nil, nil) == SQLITE_OK else {
            throw Failure("SQLite: " + String(cString: sqlite3_errmsg(database)))
        }
        return database
    }

    private static func prepare(_ database: OpaquePointer?, _ sql: String) throws -> SQLiteStatement
    {
        var statement: OpaquePointer?
        guard sqlite3_prepare_v2(database, sql, -1, &statement, nil) == SQLITE_OK else {
            throw Failure("SQLite: " + String(cString: sqlite3_errmsg(database)))
        }
        return SQLiteStatement(statement)
    }

    /// A passive checkpoint every second on a connection of its own.
    private final class Checkpoints {
        private let timer: any DispatchSourceTimer
        private let queue = DispatchQueue(label: "checkpoints")
        private let isLong = Atomic(false)

        /// Whether the log has grown so long that the writer should begin it anew; told once.
        var isLogLong: Bool {
            isLong.load(ordering: .relaxed) && isLong.exchange(false, ordering: .relaxed)
        }

        private static let logPages: Int32 = Int32(Limits().logBytes / 4_096)

        init(_ path: String) throws {
            let database = try RawUpdates.open(path)
            timer = DispatchSource.makeTimerSource(queue: queue)
            timer.schedule(deadline: .now() + 1, repeating: 1)
            // Used on the queue alone.
            nonisolated(unsafe) let handle = database
            timer.setEventHandler { [weak self] in
                var (logged, written): (Int32, Int32) = (0, 0)
                sqlite3_wal_checkpoint_v2(
                    handle, nil, SQLITE_CHECKPOINT_PASSIVE, &logged, &written)
                if logged > Self.logPages { self?.isLong.store(true, ordering: .relaxed) }
            }
            timer.setCancelHandler { sqlite3_close_v2(handle) }
            timer.resume()
        }

        func stop() {
            timer.cancel()
            queue.sync {}
        }
    }
}
