import GRDB

/// The reason why a store could not be opened, read or written.
public enum StoreFailure: Error, Sendable, Equatable, CustomStringConvertible {
    /// No file exists at the path.
    case notFound(path: String)
    /// The file exists, but is not a SQLite database.
    case notADatabase(path: String)
    /// The file is a SQLite database, but not a store of this program.
    case foreign(path: String)
    /// The store's schema is newer than this program.
    case newer(path: String, version: Int, known: Int)
    /// Another process holds the store.
    case busy(path: String)
    /// The disk is full.
    case full
    /// The stored data is inconsistent, or SQLite cannot read it. The text describes the damage.
    case damaged(String)
    /// The checksum of an object's row does not match.
    case damagedObject(creation: UInt64)
    /// The store's file, or a file beside it, is no longer where it was opened.
    case displaced(path: String)
    /// The store's schema is older, and the store may only be read.
    case older(path: String, version: Int, known: Int)
    /// The truth that the store is a copy of cannot be reached.
    case unreachable(String)
    /// The truth was lost before it said whether a transaction was done. It was not, so it can be
    /// repeated.
    case interrupted
    /// The store lacks so much of the truth that it has to catch up before the transaction. It was
    /// not done.
    case behind
    /// The truth no longer has what the store has, which therefore has to be made anew.
    case diverged(String)
    /// A value that the store cannot hold.
    case unstorable(String)
    /// Any other failure, with its reason in words.
    case failed(String)

    public var description: String {
        switch self {
        case .notFound(let path): "\(path) does not exist"
        case .notADatabase(let path): "\(path) is not a SQLite database"
        case .foreign(let path):
            "\(path) is a SQLite database of another program; nothing was changed"
        case .newer(let path, let version, let known):
            "\(path) was written by a newer geobucket (schema \(version), this one knows "
                + "\(known)); nothing was changed"
        case .busy(let path): "\(path) is in use by another process"
        case .full: "the disk is full"
        case .damaged(let what): "the store is damaged: \(what)"
        case .damagedObject(let creation):
            "the store is damaged: the object that change \(creation) created does not have the "
                + "checksum it was written with; `geobucket check` names it"
        case .displaced(let path):
            "\(path) was deleted, moved or replaced while it was served; nothing is written until it "
                + "is back in its place"
        case .older(let path, let version, let known):
            "\(path) is of schema \(version), this geobucket's is \(known): `geobucket serve` brings "
                + "it up to date when it opens it"
        case .unreachable(let what), .diverged(let what), .unstorable(let what): what
        case .interrupted: "the transaction was interrupted"
        case .behind: "the store lacks changes that it has to fetch first"
        case .failed(let what): what
        }
    }

    /// Translates a SQLite error into a failure of this store.
    public init(_ error: any Error, path: String) {
        switch error {
        case let failure as StoreFailure: self = failure
        case let error as DatabaseError:
            if error.extendedResultCode == .SQLITE_IOERR_SHMSIZE {
                self = .full  // no room for the log's index
                return
            }
            switch error.resultCode {
            case .SQLITE_BUSY, .SQLITE_LOCKED: self = .busy(path: path)
            case .SQLITE_NOTADB: self = .notADatabase(path: path)
            case .SQLITE_FULL: self = .full
            case .SQLITE_CORRUPT: self = .damaged(error.message ?? "corrupt")
            case .SQLITE_CANTOPEN:
                self = .failed("\(path) cannot be opened: \(error.message ?? "no reason given")")
            case .SQLITE_READONLY: self = .failed("\(path) cannot be written: it is read-only")
            default: self = .failed(error.message ?? "SQLite error \(error.resultCode)")
            }
        default: self = .failed("\(error)")
        }
    }
}
