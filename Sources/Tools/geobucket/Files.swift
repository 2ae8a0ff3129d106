import Glibc
import ServiceDesk

/// Access to small files and to the environment.
enum Files {
    /// The size limit of a file given by the user, in bytes.
    private static let maximumBytes = 1 << 30

    /// The contents of a file, or of a pipe until its end.
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

    /// A file that configures the service, or says who may log in to it.
    static func trusted(
        _ path: String, maximumBytes: Int, decidesLogins: Bool = false
    ) throws -> TrustedFile {
        do {
            return try TrustedFile(
                path: path, maximumBytes: maximumBytes, decidesLogins: decidesLogins)
        } catch {
            throw CommandFailure("\(path): \(error)")
        }
    }

    /// Replaces a file as a whole, durably, and keeps its owner and mode. A new file is readable
    /// only by its creator. A link stays a link.
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

    /// Gives the replacement of a file the file's owner, group and mode.
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

    /// The file that a path leads to through links; the path itself if no file exists yet.
    private static func resolved(_ path: String) -> String {
        guard let real = realpath(path, nil) else { return path }
        defer { free(real) }
        return String(cString: real)
    }

    /// Gives a complete file its name, durably, unless a file of that name exists by then.
    static func publish(_ partial: String, as path: String) throws {
        guard link(partial, path) == 0 else { throw failure(path, "cannot be written") }
        try syncFolder(of: path)
    }

    /// The folder that a path is in.
    private static func folder(of path: String) -> String {
        path.lastIndex(of: "/").map { String(path[...$0]) } ?? "."
    }

    private static func syncFolder(of path: String) throws {
        let folder = open(folder(of: path), O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard folder >= 0 else { return }
        defer { close(folder) }
        guard fsync(folder) == 0 else { throw failure(path, "cannot be written") }
    }

    /// Refuses a path to which no file can be written. It changes nothing.
    static func checkWritable(_ path: String) throws {
        var status = stat()
        let isThere = stat(path, &status) == 0
        guard !isThere || status.st_mode & S_IFMT != S_IFDIR else {
            throw CommandFailure("\(path) cannot be written: it is a directory")
        }
        let mode = isThere ? W_OK : W_OK | X_OK
        guard access(isThere ? path : folder(of: path), mode) == 0 else {
            throw failure(path, "cannot be written")
        }
    }

    /// Replaces the contents of a file, or creates it.
    static func write(_ bytes: [UInt8], to path: String) throws {
        let file = fopen(path, "w")
        let isWritten = file.map { fwrite(bytes, 1, bytes.count, $0) == bytes.count } ?? false
        let isClosed = file.map { fclose($0) == 0 } ?? false
        guard isWritten, isClosed else { throw failure(path, "cannot be written") }
    }

    private static func failure(_ path: String, _ what: String) -> CommandFailure {
        CommandFailure("\(path) \(what): \(String(cString: strerror(errno)))")
    }

    /// An environment variable; nil if it is missing or empty.
    static func environment(_ name: String) -> String? {
        guard let value = getenv(name), value.pointee != 0 else { return nil }
        return String(cString: value)
    }
}
