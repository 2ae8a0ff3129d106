import GRDB
import Glibc

extension FrozenStore {
    /// Pages copied at once.
    private static let pages: Int32 = 4_096

    /// Copies the store into a new file, which is on disk when this returns; nothing is left of it when
    /// this throws.
    ///
    /// - Parameters:
    ///   - path: where no file may be.
    ///   - progress: told the share that is done, 0 to 1; throws to end the work.
    /// - Reference: SQLite's online backup API. This is inside a read transaction, so writes do not
    ///   begin the copy anew.
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
                // One file that stands alone; a service makes it a log of its own.
                try target.execute(sql: "PRAGMA journal_mode = DELETE")
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
}
