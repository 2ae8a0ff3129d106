import Glibc
import Logging
import Operations
import Synchronization

/// The tokens file on disk: read whole, replaced whole, one change at a time.
struct TokenStore: Sendable {
    let path: String

    func load() throws -> TokenFile {
        do {
            return try TokenFile(json: try Files.contents(of: path))
        } catch let fault as TokenFileFault {
            throw CommandFailure("\(path) is no tokens file: \(fault)")
        }
    }

    /// Changes the file, made when it is missing; a service that uses it sees the old or the new.
    func change<Result>(_ body: (inout TokenFile) throws -> Result) throws -> Result {
        let lock = open(path + ".lock", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard lock >= 0, flock(lock, LOCK_EX) == 0 else {
            throw CommandFailure(
                "\(path).lock cannot be locked: \(String(cString: strerror(errno)))")
        }
        defer { close(lock) }
        var tokens = access(path, F_OK) == 0 ? try load() : TokenFile()
        let result = try body(&tokens)
        try Files.replace(path, with: tokens.json)
        return result
    }
}

/// The tokens file of a running service: what it holds, whenever it has changed.
final class WatchedTokens: Sendable {
    private let store: TokenStore
    private let logger: Logger
    private let seen: Mutex<FileStamp?>

    init(_ store: TokenStore, logger: Logger) {
        self.store = store
        self.logger = logger
        seen = Mutex(FileStamp(of: store.path))
    }

    /// The tokens, if the file has changed since the last call and can be read.
    func newest() -> TokenFile? {
        let stamp = FileStamp(of: store.path)
        let hasChanged = seen.withLock { seen in
            defer { seen = stamp }
            return seen != stamp
        }
        guard hasChanged else { return nil }
        do {
            let tokens = try store.load()
            logger.notice("tokens read", metadata: ["tokens": "\(tokens.entries.count)"])
            return tokens
        } catch {
            logger.error("the tokens file cannot be read; those known stay")
            return nil
        }
    }
}

/// What tells that a file is another than it was.
struct FileStamp: Equatable, Sendable {
    private let numbers: [Int]

    /// Nil when there is no such file.
    init?(of path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        numbers = [
            Int(status.st_ino), Int(status.st_size), status.st_mtim.tv_sec,
            status.st_mtim.tv_nsec,
        ]
    }
}
