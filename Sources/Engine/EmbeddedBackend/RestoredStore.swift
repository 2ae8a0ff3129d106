import BackendContract

/// A store out of a backup.
public enum RestoredStore {
    /// Copies a backup into a new file, brings it to the present schema, and begins a new part of its
    /// history. So what the source did after the backup is told from what the copy will do, though the
    /// changes have the same numbers. If this throws, the file is of no use.
    ///
    /// - Parameters:
    ///   - source: a store, of this schema or an earlier one, which a service may be serving.
    ///   - path: the path of the new file. No file may exist there.
    ///   - progress: receives the share that is copied, from 0 to 1.
    /// - Returns: the report of a check.
    public static func make(
        from source: String, at path: String, progress: @escaping (Double) -> Void
    ) throws(StoreFailure) -> CheckReport {
        try FrozenStore(path: source, takesOlder: true).copy(to: path, progress: progress)
        let store = try SQLiteStore(path: path)
        do throws(StoreFailure) {
            try ChangeHistory.begin(in: store, after: try store.scan { try $0.lastChange() })
        } catch {
            try? store.close()
            throw error
        }
        try store.close()
        return try StoreCheck.run(path: path)
    }
}
