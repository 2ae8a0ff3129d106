import GRDB
import GRDBSQLite

/// Checkpoints: what is committed goes from the write-ahead log into the file.
///
/// Passive ones of a connection of their own never make a writer wait, but while writes come all the
/// time the log's end is never quite reached, so the log is never begun anew and grows. Above
/// `logBytes` the writer therefore does the last bit itself: a bit, because the rest has not only been
/// written but synced, which SQLite does not do before the end is reached.
///
/// A long log is good for pages that are written again and again: each goes into the file once. Of pages
/// that are new, as in a bulk load, nothing is saved, and a log that has never been so long costs the
/// writer fresh memory of the system: it is begun anew at a part of `logBytes`.
extension ObjectStore {
    /// Rounds in which a long log is caught up with: each takes as long as what was written during
    /// the one before.
    private static let rounds = 3
    /// The part of `logBytes` for a log of which more than half made the file longer.
    private static let shareForNewPages = 4

    /// Whether so much has been written since the last checkpoint that the next one should not wait.
    public var isCheckpointDue: Bool { writtenBytes.load(ordering: .relaxed) > logBytes / 2 }

    /// Bytes of the log as of the last checkpoint: also what was kept of it for those who read.
    public var logLength: Int { loggedBytes.load(ordering: .relaxed) }

    /// Counts what the writer's connection has written into the log since it was last counted.
    func countWritten(_ db: Database) {
        var (pages, highest): (Int32, Int32) = (0, 0)
        sqlite3_db_status(
            db.sqliteConnection, SQLITE_DBSTATUS_CACHE_WRITE, &pages, &highest, 1)
        writtenBytes.add(Int(pages) * 4_096, ordering: .relaxed)
    }

    /// Takes committed pages into the file, beside writers and readers.
    ///
    /// - Returns: whether the log has grown so long that the writer should call `finishCheckpoint`; false
    ///   where that would do nothing more.
    public func checkpoint() throws(StoreFailure) -> Bool {
        writtenBytes.store(0, ordering: .relaxed)
        do {
            return try checkpoints.inDatabase { db in
                let (log, taken) = try Self.checkpoint(db)
                loggedBytes.store(log, ordering: .relaxed)
                // Nothing new since the last time: nobody writes, or a reader needs the log.
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

    /// As `checkpoint`, on the writer's connection: when no reader needs the log's pages either, the
    /// next transaction begins it anew.
    public func finishCheckpoint() throws(StoreFailure) {
        do {
            try pool.writeWithoutTransaction { _ = try Self.checkpoint($0) }
            begunAt.store(sizeOfFile, ordering: .relaxed)
        } catch {
            throw StoreFailure(error, path: path)
        }
    }

    /// The length above which a log is begun anew, by what it holds.
    private func longest(_ log: Int) -> Int {
        let grown = sizeOfFile - begunAt.load(ordering: .relaxed)
        return grown > log / 2 ? logBytes / Self.shareForNewPages : logBytes
    }

    /// - Returns: bytes of the log, and how many from its beginning on are in the file.
    private static func checkpoint(_ db: Database) throws -> (log: Int, taken: Int) {
        let row = try Row.fetchOne(db, sql: "PRAGMA wal_checkpoint(PASSIVE)")
        let pages: (log: Int, taken: Int) = (row?["log"] ?? 0, row?["checkpointed"] ?? 0)
        return (max(pages.log, 0) * 4_096, max(pages.taken, 0) * 4_096)
    }
}
