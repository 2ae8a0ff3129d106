import BackendContract
import GRDB
import Glibc

extension FrozenStore {
    /// Copies the store into a new file, which is durable when this returns. If this throws, no
    /// file remains.
    ///
    /// - Parameter stop: ends the copying.
    public func copy(to path: String, until stop: StopSignal) throws(StoreFailure) {
        try copy(to: path) { _ in
            if stop.isStopped { throw StoreFailure.failed("nobody wants the copy any more") }
        }
    }

    /// The number of pages copied in one step.
    private static let pages: Int32 = 4_096

    /// Copies the store into a new file, which is durable when this returns. If this throws, no
    /// file remains.
    ///
    /// - Parameters:
    ///   - path: the path of the new file. No file may exist there.
    ///   - progress: receives the share that is done, from 0 to 1. It throws to cancel the copy.
    /// - Reference: SQLite's online backup API. The copy runs inside a read transaction, so writes
    ///   do not restart it.
    public func copy(
        to path: String, progress: @escaping (Double) throws -> Void
    ) throws(StoreFailure) {
        let descriptor = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            throw .failed("\(path) cannot be made: \(String(cString: strerror(errno)))")
        }
        defer { close(descriptor) }
        do {
            let target = try DatabaseQueue(path: path)
            try target.writeWithoutTransaction { target in
                try target.execute(sql: "PRAGMA synchronous = OFF")
                try read { source in
                    try source.backup(to: target, pagesPerStep: Self.pages) { done in
                        try progress(
                            Double(done.completedPageCount) / Double(max(done.totalPageCount, 1)))
                    }
                }
                // The copy is one file without a log. A service creates a log of its own for it.
                try target.execute(sql: "PRAGMA journal_mode = DELETE")
                try Self.compact(target)
            }
            try target.close()
            guard fsync(descriptor) == 0 else {
                throw StoreFailure.failed(
                    "\(path) cannot be written: \(String(cString: strerror(errno)))")
            }
        } catch {
            unlink(path)
            throw StoreFailure(error, path: path)
        }
    }

    /// Takes out the pages that hold nothing.
    private static func compact(_ copy: Database) throws {
        guard try SQLiteStore.number(copy, "freelist_count") > 0 else { return }
        // A copy that is not completed is deleted.
        try copy.execute(sql: "PRAGMA journal_mode = OFF")
        // Without it the file of an earlier version has to be written anew.
        try copy.execute(
            sql: try SQLiteStore.number(copy, "auto_vacuum") == 2
                ? "PRAGMA incremental_vacuum" : "PRAGMA auto_vacuum = INCREMENTAL; VACUUM")
    }
}
