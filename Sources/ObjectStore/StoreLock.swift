import Glibc
import Synchronization

/// One process's hold on a store: an advisory lock on the file itself, gone when the process is.
///
/// The descriptor stays open as long as SQLite has the file open: closing any descriptor of a file
/// drops the process's own SQLite locks on it.
final class StoreLock: Sendable {
    private let descriptor: Mutex<Int32>

    init(path: String) throws(StoreFailure) {
        let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else {
            throw .failed("\(path) cannot be opened: \(String(cString: strerror(errno)))")
        }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            Glibc.close(descriptor)
            throw .busy(path: path)
        }
        self.descriptor = Mutex(descriptor)
    }

    deinit { release() }

    func release() {
        descriptor.withLock {
            if $0 >= 0 {
                // A child between fork and exec shares the lock: closing alone would leave it held.
                flock($0, LOCK_UN)
                Glibc.close($0)
            }
            $0 = -1
        }
    }

    static func size(of path: String) -> Int? {
        var status = stat()
        return stat(path, &status) == 0 ? Int(status.st_size) : nil
    }
}
