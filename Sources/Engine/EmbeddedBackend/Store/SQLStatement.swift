import GRDB
import GRDBSQLite
import Objects

/// A prepared statement of a connection that runs through SQLite's own calls. It serves the few
/// statements that every read or write runs.
///
/// It is valid during GRDB's access to the connection. Values are always bound as parameters.
/// SQLite copies texts and blobs when they are bound, except in `run(blob:text:)`.
struct SQLStatement {
    private let statement: Statement
    private var handle: OpaquePointer { statement.sqliteStatement }

    /// SQLite's SQLITE_TRANSIENT: SQLite copies the bytes before the call returns.
    private static let transient = unsafeBitCast(-1, to: sqlite3_destructor_type.self)

    /// A statement that the connection keeps prepared between uses.
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

    /// Binds NULL for an empty blob.
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

    /// Advances to the next row. At the end it returns false and resets the statement for its next
    /// use.
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

    /// Resets a statement before its last row. An unfinished statement holds its connection at the
    /// state of the store that it reads, even without a transaction: later reads on that connection
    /// see nothing newer, and the write-ahead log never restarts.
    func reset() { sqlite3_reset(handle) }

    /// Runs a statement that returns no rows.
    func run() throws { while try step() {} }

    /// Runs a statement that returns no rows, with a blob and a text that SQLite reads in place.
    /// Large values are not copied.
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

    /// The first row's value; nil if there is no row.
    func first<Value>(_ value: (SQLStatement) -> Value) throws -> Value? {
        guard try step() else { return nil }
        defer { sqlite3_reset(handle) }
        return value(self)
    }

    func int(_ column: Int32) -> Int64 { sqlite3_column_int64(handle, column) }

    /// The value of a column; nil for NULL.
    func optionalInt(_ column: Int32) -> Int64? {
        sqlite3_column_type(handle, column) == SQLITE_NULL ? nil : int(column)
    }

    func text(_ column: Int32) -> String? {
        bytes(column).map { String(decoding: $0, as: UTF8.self) }
    }

    /// A field path; nil for NULL.
    func path(_ column: Int32) -> FieldPath? {
        bytes(column).map { FieldPath(utf8: Array($0)) }
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
