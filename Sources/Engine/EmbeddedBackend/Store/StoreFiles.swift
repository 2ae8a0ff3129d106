import CGlibc
import Glibc
import Synchronization

/// The locations of a store's files: the file that was opened, its log and the log's index.
///
/// SQLite keeps its files open and would continue to write to a file that has been deleted, moved
/// or replaced. An answered write would then be lost with the process, or would damage another
/// store.
///
/// - Complexity: one check is three system calls, which take some microseconds. They leave the
///   times of the files alone: see `gb_identify`.
final class StoreFiles: Sendable {
    private struct Identity: Equatable {
        private var (device, number): (UInt64, UInt64) = (0, 0)

        init?(path: String) {
            guard gb_identify(AT_FDCWD, path, &device, &number) == 0 else { return nil }
        }

        init?(descriptor: Int32) {
            guard gb_identify(descriptor, "", &device, &number) == 0 else { return nil }
        }
    }

    private let path: String
    private let file: Identity?
    /// The log and its index. Their identities are recorded when they are first seen.
    private let besides: Mutex<[(path: String, identity: Identity?)]>

    /// - Parameter descriptor: the file that was opened at the path.
    init(path: String, descriptor: Int32) {
        self.path = path
        besides = Mutex(["-wal", "-shm"].map { (path + $0, nil) })
        file = Identity(descriptor: descriptor)
    }

    /// - Throws: `StoreFailure.displaced` if a file is no longer in its place.
    func check() throws(StoreFailure) {
        let isInPlace = besides.withLock { besides in
            besides.indices.allSatisfy { index in
                let present = Identity(path: besides[index].path)
                if besides[index].identity == nil { besides[index].identity = present }
                return present == besides[index].identity
            }
        }
        guard isInPlace, isFileInPlace else { throw .displaced(path: path) }
    }

    /// Whether the main file is still where it was opened.
    var isFileInPlace: Bool { file != nil && Identity(path: path) == file }
}
