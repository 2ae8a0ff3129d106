import Glibc

/// What the surroundings hold: small files and the environment.
enum Files {
    static func contents(of path: String) throws -> [UInt8] {
        guard let file = fopen(path, "r") else {
            throw CommandFailure("\(path) cannot be read: \(String(cString: strerror(errno)))")
        }
        defer { fclose(file) }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = fread(&chunk, 1, chunk.count, file)
            guard count > 0 else { break }
            bytes += chunk[..<count]
        }
        return bytes
    }

    /// Replaces a file whole, durably; its owner alone may read it.
    static func replace(_ path: String, with bytes: [UInt8]) throws {
        let next = path + ".new"
        func failure() -> CommandFailure {
            CommandFailure("\(path) cannot be written: \(String(cString: strerror(errno)))")
        }
        unlink(next)
        let file = open(next, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw failure() }
        let isWritten =
            bytes.withUnsafeBytes { Glibc.write(file, $0.baseAddress, $0.count) } == bytes.count
            && fsync(file) == 0
        close(file)
        guard isWritten, rename(next, path) == 0 else { throw failure() }
    }

    /// Replaces what a file holds, or makes it.
    static func write(_ bytes: [UInt8], to path: String) throws {
        let file = fopen(path, "w")
        let isWritten = file.map { fwrite(bytes, 1, bytes.count, $0) == bytes.count } ?? false
        let isClosed = file.map { fclose($0) == 0 } ?? false
        guard isWritten, isClosed else {
            throw CommandFailure("\(path) cannot be written: \(String(cString: strerror(errno)))")
        }
    }

    /// A variable of the environment; nil when it is missing or empty.
    static func environment(_ name: String) -> String? {
        guard let value = getenv(name), value.pointee != 0 else { return nil }
        return String(cString: value)
    }
}
