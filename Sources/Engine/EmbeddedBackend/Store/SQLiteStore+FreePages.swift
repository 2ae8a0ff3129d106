import BackendContract
import GRDB

/// Pages that deletions have left empty. Writes use them again; the others go back to the file system.
///
/// - Reference: SQLite, "PRAGMA auto_vacuum", "PRAGMA incremental_vacuum".
extension SQLiteStore {
    /// The bytes of a page.
    public static let pageBytes = 4_096

    /// The pages of the file that held nothing when they were last counted.
    public var freePages: Int { unusedPages.load(ordering: .relaxed) }

    /// Counts the pages.
    ///
    /// - Returns: all of them, and those that hold nothing.
    @discardableResult
    public func countPages() throws(StoreFailure) -> (all: Int, free: Int) {
        do {
            let (all, free) = try checkpoints.inDatabase { db in
                (try Self.number(db, "page_count"), try Self.number(db, "freelist_count"))
            }
            pages.store(all, ordering: .relaxed)
            unusedPages.store(free, ordering: .relaxed)
            return (all, free)
        } catch {
            throw StoreFailure(error, path: path)
        }
    }

    /// Whether single pages can be given back. A file that an earlier version has made has to be
    /// rebuilt once.
    public func givesPagesBack() throws(StoreFailure) -> Bool {
        do {
            return try pool.unsafeRead { try Self.number($0, "auto_vacuum") == Self.incremental }
        } catch {
            throw StoreFailure(error, path: path)
        }
    }

    /// What `auto_vacuum` says of a file whose pages can be given back one by one.
    static let incremental = 2

    /// Gives some pages back, in one transaction. The file gets shorter at the next checkpoint.
    ///
    /// - Parameter most: the most pages.
    /// - Returns: how many hold nothing still.
    public func giveBack(atMost most: Int) throws(StoreFailure) -> Int {
        do {
            try files.check()
            let left = try pool.writeWithoutTransaction { db in
                try db.execute(sql: "PRAGMA incremental_vacuum(\(most))")
                countWritten(db)
                return try Self.number(db, "freelist_count")
            }
            unusedPages.store(left, ordering: .relaxed)
            return left
        } catch {
            throw StoreFailure(error, path: path)
        }
    }

    /// Writes the whole file anew, without pages that hold nothing, so that single pages can be given
    /// back from then on. Writes wait for it, reads do not. The log becomes as long as the file is.
    public func rebuild() throws(StoreFailure) {
        do {
            try files.check()
            try pool.writeWithoutTransaction { db in
                try db.execute(sql: "PRAGMA auto_vacuum = INCREMENTAL; VACUUM")
                countWritten(db)
            }
        } catch {
            throw StoreFailure(error, path: path)
        }
    }

    static func number(_ db: Database, _ pragma: String) throws -> Int {
        try Int.fetchOne(db, sql: "PRAGMA \(pragma)") ?? 0
    }
}
