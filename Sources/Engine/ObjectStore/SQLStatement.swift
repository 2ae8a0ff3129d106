import GRDB
import GRDBSQLite

/// A prepared statement of a connection, run through SQLite's own calls: for the few statements
/// that every read or write runs.
///
/// Valid while GRDB's access to the connection lasts. Values are bound, never pasted; texts and
/// blobs are copied by SQLite when bound, but for those of `run(blob:text:)`.
struct SQLStatement {
    private let statement: Statement
    private var handle: OpaquePointer { statement.sqliteStatement }

    /// SQLite's SQLITE_TRANSIENT: copy the bytes before the call returns.
    private static let transient = unsafeBitCast(-1, to: sqlite3_destructor_type.self)

    /// A statement the connection keeps prepared between uses.
    init(_ db: Database, _ sql: String) throws {
        statement = try db.cachedStatement(sql: sql)
        sqlite3_reset(handle)
    }

    @discardableResult
    func bind(_ column: Int32, _ value: Int64?) -> SQLStatement {
        if let value {
            sqlite3_bind_int64(handle, column, value)
        } else {
            sqlite3_bind_null(handle, column)
        }
        return self
    }

    @discardableResult
    func bind(_ column: Int32, _ value: String?) -> SQLStatement {
        if var value {
            value.withUTF8 { bindText(column, $0) }
        } else {
            sqlite3_bind_null(handle, column)
        }
        return self
    }

    @discardableResult
    func bind(_ column: Int32, text: [UInt8]) -> SQLStatement {
        text.withUnsafeBufferPointer { bindText(column, $0) }
        return self
    }

    @discardableResult
    func bind(_ column: Int32, blob: [UInt8]?) -> SQLStatement {
        (blob ?? []).withUnsafeBytes { bindBlob(column, $0) }
        return self
    }

    /// Nothing to copy binds NULL.
    private func bindBlob(
        _ column: Int32, _ blob: UnsafeRawBufferPointer,
        _ destructor: sqlite3_destructor_type? = Self.transient
    ) {
        if blob.isEmpty {
            sqlite3_bind_null(handle, column)
        } else {
            sqlite3_bind_blob(handle, column, blob.baseAddress, Int32(blob.count), destructor)
        }
    }

    private func bindText(
        _ column: Int32, _ text: UnsafeBufferPointer<UInt8>,
        _ destructor: sqlite3_destructor_type? = Self.transient
    ) {
        guard !text.isEmpty else {  // a nil address would bind NULL
            sqlite3_bind_text(handle, column, "", 0, Self.transient)
            return
        }
        text.withMemoryRebound(to: CChar.self) {
            _ = sqlite3_bind_text(handle, column, $0.baseAddress, Int32($0.count), destructor)
        }
    }

    /// Runs to the next row; false at the end, when the statement is reset for its next use.
    func step() throws -> Bool {
        let code = sqlite3_step(handle)
        if code == SQLITE_ROW { return true }
        let message = String(cString: sqlite3_errmsg(sqlite3_db_handle(handle)))
        sqlite3_reset(handle)
        guard code == SQLITE_DONE else {
            throw DatabaseError(resultCode: ResultCode(rawValue: code), message: message)
        }
        return false
    }

    /// Ends a statement before its last row. One that is left in the middle holds its connection at the
    /// state of the store that it reads, transactions or not: later reads there see nothing newer, and
    /// the write-ahead log is never begun anew.
    func reset() { sqlite3_reset(handle) }

    /// Runs a statement that has no rows to give.
    func run() throws { while try step() {} }

    /// Runs a statement that has no rows to give, with a blob and a text that SQLite reads where they
    /// are: what is large is not copied.
    func run(
        blob: (column: Int32, bytes: [UInt8]), text: (column: Int32, bytes: [UInt8])
    ) throws {
        try blob.bytes.withUnsafeBytes { blobBytes in
            try text.bytes.withUnsafeBufferPointer { textBytes in
                bindBlob(blob.column, blobBytes, nil)
                bindText(text.column, textBytes, nil)
                try run()
            }
        }
    }

    /// The first row's value, if there is a row.
    func first<Value>(_ value: (SQLStatement) -> Value) throws -> Value? {
        guard try step() else { return nil }
        defer { sqlite3_reset(handle) }
        return value(self)
    }

    func int(_ column: Int32) -> Int64 { sqlite3_column_int64(handle, column) }

    /// Nil for NULL.
    func optionalInt(_ column: Int32) -> Int64? {
        sqlite3_column_type(handle, column) == SQLITE_NULL ? nil : int(column)
    }

    func text(_ column: Int32) -> String? {
        bytes(column).map { String(decoding: $0, as: UTF8.self) }
    }

    /// The bytes of a text or blob, valid until the next step; nil for NULL.
    func bytes(_ column: Int32) -> UnsafeBufferPointer<UInt8>? {
        guard let base = sqlite3_column_blob(handle, column) else {
            return sqlite3_column_type(handle, column) == SQLITE_NULL
                ? nil : UnsafeBufferPointer(start: nil, count: 0)
        }
        let count = Int(sqlite3_column_bytes(handle, column))
        return UnsafeBufferPointer(
            start: base.assumingMemoryBound(to: UInt8.self), count: count)
    }
}
