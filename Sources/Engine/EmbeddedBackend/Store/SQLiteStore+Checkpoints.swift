import GRDB
import GRDBSQLite

/// Checkpoints copy committed pages from the write-ahead log into the file.
///
/// Passive checkpoints on a separate connection never make a writer wait. Under constant writes,
/// however, they never quite reach the end of the log, so the log never restarts and keeps growing.
/// Above `logBytes` the writer therefore runs the last part of the checkpoint itself. That part is
/// small, because the rest has already been written and also synced; SQLite does not sync the file
/// before a checkpoint reaches the end of the log.
///
/// A long log pays off for pages that are written repeatedly, because each of them goes into the
/// file once. It saves nothing for new pages, as in a bulk load, and a log that grows beyond its
/// former length costs the writer fresh memory of the system. The log is then restarted at a
/// fraction of `logBytes`.
///
/// A log that is begun anew keeps its file, with the remains of the former one behind the new frames.
/// Litestream, which copies logs, takes such remains for a proof that it had seen the former log to its
/// end, even if frames were added, copied into the store and replaced while it did not run: its copies
/// then lack them. In a store that Litestream has seen, the writer therefore cuts the remains off, and
/// Litestream makes a whole copy. While Litestream runs, its own checkpoints begin the log anew.
extension SQLiteStore {
    /// The number of rounds that catch up with a long log. Each round takes as long as the data
    /// that was written during the previous one.
    private static let rounds = 3
    /// The divisor of `logBytes` for a log of which more than half made the file longer.
    private static let shareForNewPages = 4

    /// The length of the log at the last checkpoint, in bytes, including the part that is kept for
    /// readers.
    public var logLength: Int { loggedBytes.load(ordering: .relaxed) }

    /// Counts the bytes that the writer's connection has written to the log since the last count.
    func countWritten(_ db: Database) {
        var (pages, highest): (Int32, Int32) = (0, 0)
        sqlite3_db_status(
            db.sqliteConnection, SQLITE_DBSTATUS_CACHE_WRITE, &pages, &highest, 1)
        let (before, now) = writtenBytes.add(Int(pages) * 4_096, ordering: .relaxed)
        if before <= logBytes / 2, now > logBytes / 2 { checkpointDue() }
    }

    /// Copies committed pages into the file while writers and readers continue.
    ///
    /// - Returns: whether the log is so long that the writer should call `finishCheckpoint`; false
    ///   if that call would achieve nothing.
    public func checkpoint() throws(StoreFailure) -> Bool {
        writtenBytes.store(0, ordering: .relaxed)
        do {
            try cutRemainsForLitestream()
            return try checkpoints.inDatabase { db in
                let (log, taken) = try Self.checkpoint(db)
                loggedBytes.store(log, ordering: .relaxed)
                // If nothing is new since the last checkpoint, nobody writes or a reader needs the
                // log.
                let isNew = takenBytes.exchange(taken, ordering: .relaxed) != taken
                guard isNew, log > longest(log) else { return false }
                for _ in 0..<Self.rounds {
                    try lock.syncFile()
                    _ = try Self.checkpoint(db)
                }
                return true
            }
        } catch {
            throw StoreFailure(error, path: path)
        }
    }

    /// Looks whether Litestream has seen the store, and lets the writer cut logs off if it has.
    func cutRemainsForLitestream() throws {
        guard !cutsRemains.load(ordering: .relaxed) else { return }
        let isSeen = try checkpoints.inDatabase { db in
            try SQLStatement(db, "SELECT 1 FROM sqlite_schema WHERE name = '_litestream_seq'")
                .first { _ in true } ?? false
        }
        guard isSeen else { return }
        try pool.writeWithoutTransaction { try $0.execute(sql: "PRAGMA journal_size_limit = 0") }
        cutsRemains.store(true, ordering: .relaxed)
    }

    /// Runs a checkpoint on the writer's connection. If no reader needs the log's pages either, the
    /// next transaction restarts the log.
    public func finishCheckpoint() throws(StoreFailure) {
        do {
            try pool.writeWithoutTransaction { _ = try Self.checkpoint($0) }
            begunAt.store(sizeOfFile, ordering: .relaxed)
        } catch {
            throw StoreFailure(error, path: path)
        }
    }

    /// The length above which a log is restarted. It depends on the contents of the log.
    private func longest(_ log: Int) -> Int {
        let grown = sizeOfFile - begunAt.load(ordering: .relaxed)
        return grown > log / 2 ? logBytes / Self.shareForNewPages : logBytes
    }

    /// - Returns: the length of the log in bytes, and how many bytes from its beginning are in the
    ///   file.
    private static func checkpoint(_ db: Database) throws -> (log: Int, taken: Int) {
        let row = try Row.fetchOne(db, sql: "PRAGMA wal_checkpoint(PASSIVE)")
        let pages: (log: Int, taken: Int) = (row?["log"] ?? 0, row?["checkpointed"] ?? 0)
        return (max(pages.log, 0) * 4_096, max(pages.taken, 0) * 4_096)
    }
}
