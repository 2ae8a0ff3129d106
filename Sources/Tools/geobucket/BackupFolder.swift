import Glibc

/// The folder with the backups of one store: `NAME-20261128T093000Z.sqlite`.
///
/// Whoever has this object is the only one to make backups of this name there. Other files are left
/// alone.
final class BackupFolder: Sendable {
    private let path: String
    /// The name of the store's file, without its extension.
    private let name: String
    /// Locked as long as it is open.
    private let lock: Int32

    private static let fileExtension = ".sqlite"

    /// - Parameter store: the path of the store.
    /// - Throws: a `CommandFailure` if no files can be made in the folder, or another service makes
    ///   its backups there.
    init(path: String, store: String) throws {
        self.path = path
        let file = store.split(separator: "/").last.map(String.init) ?? store
        name =
            file.hasSuffix(Self.fileExtension)
            ? String(file.dropLast(Self.fileExtension.count)) : file
        let lockPath = "\(path)/.\(name).lock"
        lock = open(lockPath, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard lock >= 0 else {
            throw CommandFailure(
                "--backup-to: \(path) takes no files: \(String(cString: strerror(errno)))")
        }
        guard flock(lock, LOCK_EX | LOCK_NB) == 0 else {
            close(lock)
            throw CommandFailure(
                "--backup-to: another service makes backups of a store \(name) in \(path)")
        }
        removePartial()
    }

    deinit { close(lock) }

    /// The path of a backup that is being made.
    var partial: String { "\(path)/\(name).partial" }

    /// Removes what a crash has left behind.
    func removePartial() {
        for suffix in ["", "-journal", "-wal", "-shm"] { unlink(partial + suffix) }
    }

    /// The path of a backup.
    func path(of time: BackupTime) -> String {
        "\(path)/\(name)-\(time.text)\(Self.fileExtension)"
    }

    /// The times of the backups that are there, the oldest first.
    func times() -> [BackupTime] {
        guard let folder = opendir(path) else { return [] }
        defer { closedir(folder) }
        var times: [BackupTime] = []
        while let entry = readdir(folder) {
            let file = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            guard file.hasPrefix(name + "-"), file.hasSuffix(Self.fileExtension) else { continue }
            let text = file.dropFirst(name.count + 1).dropLast(Self.fileExtension.count)
            if let time = BackupTime(text) { times.append(time) }
        }
        return times.sorted()
    }
}
