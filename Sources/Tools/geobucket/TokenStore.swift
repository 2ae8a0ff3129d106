import Glibc
import ServiceDesk

/// The tokens file on disk: read and replaced whole, one change at a time.
struct TokenStore: Sendable {
    let path: String

    /// The size limit in bytes; a service may be configured with a smaller one.
    private static let maximumBytes = 1 << 30

    func load() throws -> TokenFile {
        try Self.tokens(
            Files.trusted(path, maximumBytes: Self.maximumBytes), path: path)
    }

    static func tokens(_ file: TrustedFile, path: String) throws -> TokenFile {
        do {
            return try TokenFile(json: file.bytes)
        } catch let fault as TokenFileFault {
            throw CommandFailure("\(path) is no tokens file: \(fault)")
        }
    }

    /// Changes the file, or creates it; a service that reads it sees either the old or the new one.
    func change<Result>(_ body: (inout TokenFile) throws -> Result) throws -> Result {
        let lock = open(path + ".lock", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard lock >= 0, flock(lock, LOCK_EX) == 0 else {
            throw CommandFailure(
                "\(path).lock cannot be locked: \(String(cString: strerror(errno)))")
        }
        defer { close(lock) }
        // The lock gets the owner of the tokens file, so that every user who may change the file can
        // take the lock. A failure here is reported at the next change.
        var status = stat()
        if stat(path, &status) == 0 { _ = fchown(lock, status.st_uid, status.st_gid) }
        var tokens = access(path, F_OK) == 0 ? try load() : TokenFile()
        let result = try body(&tokens)
        try Files.replace(path, with: tokens.json)
        return result
    }
}
