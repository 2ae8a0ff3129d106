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

    /// A variable of the environment; nil when it is missing or empty.
    static func environment(_ name: String) -> String? {
        guard let value = getenv(name), value.pointee != 0 else { return nil }
        return String(cString: value)
    }
}
