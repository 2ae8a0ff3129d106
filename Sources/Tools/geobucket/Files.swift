import Glibc
import Operations

/// What the surroundings hold: small files and the environment.
enum Files {
    /// What a command reads at most of a file that somebody names.
    private static let maximumBytes = 1 << 30

    /// What a file holds, or what comes through a pipe until its end.
    static func contents(of path: String) throws -> [UInt8] {
        guard let file = fopen(path, "re") else { throw failure(path, "cannot be read") }
        defer { fclose(file) }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = fread(&chunk, 1, chunk.count, file)
            guard count > 0 else { break }
            bytes += chunk[..<count]
            guard bytes.count <= maximumBytes else {
                throw CommandFailure("\(path) is longer than \(maximumBytes) bytes")
            }
        }
        guard ferror(file) == 0 else { throw failure(path, "cannot be read") }
        return bytes
    }

    /// A file that the service goes by.
    static func trusted(_ path: String, maximumBytes: Int) throws -> TrustedFile {
        do {
            return try TrustedFile(path: path, maximumBytes: maximumBytes)
        } catch {
            throw CommandFailure("\(path): \(error)")
        }
    }

    /// Replaces a file whole, durably, and leaves it its owner and its mode; where there is none, its
    /// maker alone may read it. A link stays a link.
    static func replace(_ path: String, with bytes: [UInt8]) throws {
        let path = resolved(path)
        let next = path + ".new"
        unlink(next)
        let file = open(next, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw failure(path, "cannot be written") }
        defer { close(file) }
        do {
            try keepOwnerAndMode(of: path, for: file)
            let isWritten =
                bytes.withUnsafeBytes { Glibc.write(file, $0.baseAddress, $0.count) } == bytes.count
                && fsync(file) == 0 && rename(next, path) == 0
            guard isWritten else { throw failure(path, "cannot be written") }
        } catch {
            unlink(next)
            throw error
        }
        try syncFolder(of: path)
    }

    /// Gives what takes the place of a file the file's owner, group and mode.
    private static func keepOwnerAndMode(of path: String, for file: Int32) throws {
        var (old, new) = (stat(), stat())
        guard stat(path, &old) == 0 else { return }
        guard fstat(file, &new) == 0 else { throw failure(path, "cannot be written") }
        if (old.st_uid, old.st_gid) != (new.st_uid, new.st_gid),
            fchown(file, old.st_uid, old.st_gid) != 0
        {
            throw CommandFailure(
                "\(path) belongs to user \(old.st_uid) and group \(old.st_gid), and would not any "
                    + "more: change it as that user, or as root")
        }
        guard fchmod(file, old.st_mode & 0o7777) == 0 else {
            throw failure(path, "cannot be written")
        }
    }

    /// The file that a path leads to through links; the path itself when there is none yet.
    private static func resolved(_ path: String) -> String {
        guard let real = realpath(path, nil) else { return path }
        defer { free(real) }
        return String(cString: real)
    }

    private static func syncFolder(of path: String) throws {
        let name = path.lastIndex(of: "/").map { String(path[...$0]) } ?? "."
        let folder = open(name, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard folder >= 0 else { return }
        defer { close(folder) }
        guard fsync(folder) == 0 else { throw failure(path, "cannot be written") }
    }

    /// Replaces what a file holds, or makes it.
    static func write(_ bytes: [UInt8], to path: String) throws {
        let file = fopen(path, "w")
        let isWritten = file.map { fwrite(bytes, 1, bytes.count, $0) == bytes.count } ?? false
        let isClosed = file.map { fclose($0) == 0 } ?? false
        guard isWritten, isClosed else { throw failure(path, "cannot be written") }
    }

    private static func failure(_ path: String, _ what: String) -> CommandFailure {
        CommandFailure("\(path) \(what): \(String(cString: strerror(errno)))")
    }

    /// A variable of the environment; nil when it is missing or empty.
    static func environment(_ name: String) -> String? {
        guard let value = getenv(name), value.pointee != 0 else { return nil }
        return String(cString: value)
    }
}
