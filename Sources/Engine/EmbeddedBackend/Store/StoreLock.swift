import CGlibc
import Glibc
import Synchronization

/// One process's hold on a store: an advisory lock on the file itself, which ends with the process.
///
/// The descriptor stays open as long as SQLite has the file open, because closing any descriptor of
/// a file releases the process's own SQLite locks on it.
final class StoreLock: Sendable {
    private let descriptor: Mutex<Int32>

    init(path: String) throws(StoreFailure) {
        try Self.checkFile(path)
        // SQLite gives the log and its index the mode of the file.
        let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            throw .failed("\(path) cannot be opened: \(String(cString: strerror(errno)))")
        }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            Glibc.close(descriptor)
            throw .busy(path: path)
        }
        self.descriptor = Mutex(descriptor)
    }

    /// A hold that several processes can share, none of which writes; nil if a writing process
    /// holds the store.
    init?(sharing path: String) {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        guard flock(descriptor, LOCK_SH | LOCK_NB) == 0 else {
            Glibc.close(descriptor)
            return nil
        }
        self.descriptor = Mutex(descriptor)
    }

    deinit { release() }

    func release() {
        descriptor.withLock {
            if $0 >= 0 {
                // A child between fork and exec shares the lock, so closing the descriptor alone
                // would keep the lock held.
                flock($0, LOCK_UN)
                Glibc.close($0)
            }
            $0 = -1
        }
    }

    private static let sliceBytes = 1 << 20

    /// The identities of the store's files at a path, as of now.
    func files(at path: String) -> StoreFiles {
        descriptor.withLock { StoreFiles(path: path, descriptor: $0) }
    }

    /// Returns when everything that was written to the file is on disk.
    ///
    /// It syncs the file in slices. A single sync would keep the disk busy for so long that a sync
    /// of the log would have to wait for it.
    func syncFile() throws(StoreFailure) {
        let file = descriptor.withLock { $0 }
        var status = stat()
        var isDone = fstat(file, &status) == 0
        for offset in stride(from: 0, to: Int(status.st_size), by: Self.sliceBytes) where isDone {
            // If the system cannot write slices, the final sync writes everything.
            isDone = gb_write_back(file, offset, Self.sliceBytes) == 0 || errno == ENOSYS
        }
        guard isDone, fdatasync(file) == 0 else {
            throw .failed("the file cannot be synced: \(String(cString: strerror(errno)))")
        }
    }

    /// Rejects a path that cannot be a store: a directory, a pipe, or a file that may not be read.
    static func checkFile(_ path: String) throws(StoreFailure) {
        var status = stat()
        guard stat(path, &status) == 0 else {
            if errno == ENOENT { return }
            throw .failed("\(path) cannot be opened: \(String(cString: strerror(errno)))")
        }
        guard status.st_mode & S_IFMT == S_IFREG else {
            let what = status.st_mode & S_IFMT == S_IFDIR ? "a folder" : "no regular file"
            throw .failed("\(path) is \(what); a store is one file, such as geobucket.sqlite")
        }
        guard access(path, R_OK) == 0 else {
            throw .failed("\(path) cannot be read: \(String(cString: strerror(errno)))")
        }
    }

    static func size(of path: String) -> Int? {
        var status = stat()
        return stat(path, &status) == 0 ? Int(status.st_size) : nil
    }
}
