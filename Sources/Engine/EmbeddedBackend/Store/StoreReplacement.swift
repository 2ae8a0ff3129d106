import Glibc

/// A store that takes the place of another one, which is kept.
public enum StoreReplacement {
    /// Gives a whole store a path. What is there, a store or the log of one, goes to another path.
    ///
    /// At every moment the former store is whole at one of the two paths, and the path has one of the
    /// stores. The log of one never lies beside the file of the other.
    ///
    /// - Parameters:
    ///   - new: a store without a log, in the same folder.
    ///   - path: where a service would find it.
    ///   - old: where the former store is kept. Nothing may be there.
    /// - Throws: `StoreFailure.busy` if a service has the store.
    public static func run(
        _ new: String, at path: String, keeping old: String
    ) throws(StoreFailure) {
        let lock = StoreLock.size(of: path) == nil ? nil : try StoreLock(path: path)
        defer { lock?.release() }
        for suffix in ["", "-wal"] where StoreLock.size(of: path + suffix) != nil {
            guard link(path + suffix, old + suffix) == 0 else { throw failure(old + suffix) }
        }
        try sync(folderOf: path)
        for suffix in ["-wal", "-shm"] where StoreLock.size(of: path + suffix) != nil {
            guard unlink(path + suffix) == 0 else { throw failure(path + suffix) }
        }
        try sync(folderOf: path)
        guard rename(new, path) == 0 else { throw failure(path) }
        try sync(folderOf: path)
    }

    private static func sync(folderOf path: String) throws(StoreFailure) {
        let name = path.lastIndex(of: "/").map { String(path[...$0]) } ?? "."
        let folder = open(name, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard folder >= 0 else { throw failure(name) }
        defer { close(folder) }
        guard fsync(folder) == 0 else { throw failure(name) }
    }

    private static func failure(_ path: String) -> StoreFailure {
        .failed("\(path) cannot be written: \(String(cString: strerror(errno)))")
    }
}
