import GRDB
import Glibc

/// What is seen of a store without reading its objects. Nothing is changed.
public struct StoreLook: Sendable {
    /// The bytes of the file.
    public let bytes: Int
    /// The bytes of its write-ahead log.
    public let logBytes: Int
    /// The bytes of pages that hold nothing.
    public let freeBytes: Int
    /// Whether single pages can be given back: see `SQLiteStore.givesPagesBack`.
    public let givesPagesBack: Bool
    /// Bytes that this process could still write on its disk; 0 if that is not known.
    public let diskFreeBytes: Int
    /// Whether every user of the machine may read it.
    public let isReadByAll: Bool

    /// Looks at a store, which a service may be serving.
    public init(path: String) throws(StoreFailure) {
        let frozen = try FrozenStore(path: path)
        let (free, mode) = try frozen.read { db in
            (
                try SQLiteStore.number(db, "freelist_count"),
                try SQLiteStore.number(db, "auto_vacuum")
            )
        }
        bytes = StoreLock.size(of: path) ?? 0
        logBytes = StoreLock.size(of: path + "-wal") ?? 0
        freeBytes = free * SQLiteStore.pageBytes
        givesPagesBack = mode == SQLiteStore.incremental
        var disk = statvfs()
        diskFreeBytes = statvfs(path, &disk) == 0 ? Int(disk.f_bavail) * Int(disk.f_frsize) : 0
        var status = stat()
        isReadByAll = stat(path, &status) == 0 && status.st_mode & S_IROTH != 0
    }
}
