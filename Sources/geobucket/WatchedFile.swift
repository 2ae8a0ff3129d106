import Glibc
import Logging
import Synchronization

/// A file that a running service goes by and that may change at any time.
final class WatchedFile: Sendable {
    let path: String
    /// What the log calls it.
    private let name: String
    private let logger: Logger
    private let seen: Mutex<FileStamp?>

    init(_ path: String, named name: String, logger: Logger) {
        self.path = path
        self.name = name
        self.logger = logger
        seen = Mutex(FileStamp(of: path))
    }

    /// Whether the file is another than at the last call.
    func hasChanged() -> Bool {
        let stamp = FileStamp(of: path)
        return seen.withLock { seen in
            defer { seen = stamp }
            return seen != stamp
        }
    }

    func noteRead(_ count: Int) { logger.notice("\(name) read", metadata: ["count": "\(count)"]) }

    func noteUnreadable() { logger.error("the file of \(name) cannot be read; those known stay") }
}

/// What tells that a file is another than it was.
private struct FileStamp: Equatable, Sendable {
    private let numbers: [Int]

    /// Nil when there is no such file.
    init?(of path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        numbers = [
            Int(status.st_ino), Int(status.st_size), status.st_mtim.tv_sec,
            status.st_mtim.tv_nsec,
        ]
    }
}
