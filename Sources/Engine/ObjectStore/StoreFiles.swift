import Glibc
import Synchronization

/// Where a store's files are: the one that was opened, its log and the log's index.
///
/// SQLite holds its files open and would go on writing into one that has been deleted, moved or
/// replaced: what is answered then is gone with the process, or spoils another store.
///
/// - Complexity: a check is three calls of `stat`, some microseconds.
final class StoreFiles: Sendable {
    private struct Identity: Equatable {
        let device: dev_t
        let number: ino_t

        init(_ status: stat) { (device, number) = (status.st_dev, status.st_ino) }

        init?(path: String) {
            var status = stat()
            guard stat(path, &status) == 0 else { return nil }
            self.init(status)
        }
    }

    private let path: String
    private let file: Identity?
    /// Of the files beside it, known from the first time they are seen on.
    private let besides = Mutex<[String: Identity]>([:])

    private static let suffixes = ["-wal", "-shm"]

    /// - Parameter descriptor: the file that has been opened there.
    init(path: String, descriptor: Int32) {
        self.path = path
        var status = stat()
        file = fstat(descriptor, &status) == 0 ? Identity(status) : nil
    }

    /// - Throws: `StoreFailure.displaced` when a file is not where it was.
    func check() throws(StoreFailure) {
        let isInPlace = besides.withLock { besides in
            Self.suffixes.allSatisfy { suffix in
                let present = Identity(path: path + suffix)
                guard let known = besides[suffix] else {
                    besides[suffix] = present
                    return true
                }
                return present == known
            }
        }
        guard isInPlace, isFileInPlace else { throw .displaced(path: path) }
    }

    /// Whether the file itself is where it was opened.
    var isFileInPlace: Bool { file != nil && Identity(path: path) == file }
}
