import CSQLite

/// A prepared statement of SQLite's.
final class SQLiteStatement {
    private let statement: OpaquePointer?
    private var positions: [String: Int32] = [:]

    /// Takes the statement over.
    init(_ statement: OpaquePointer?) { self.statement = statement }

    deinit { sqlite3_finalize(statement) }

    func reset() { sqlite3_reset(statement) }

    /// Binds a number to a parameter, if the statement has it; whole numbers as integers.
    func bind(_ value: Double, _ name: String) {
        if let whole = Int64(exactly: value) {
            sqlite3_bind_int64(statement, position(of: name), whole)
        } else {
            sqlite3_bind_double(statement, position(of: name), value)
        }
    }

    func bind(_ text: String, _ name: String) {
        // SQLITE_TRANSIENT: SQLite makes a copy.
        let copy = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
        sqlite3_bind_text(statement, position(of: name), text, -1, copy)
    }

    /// Whether there is another row.
    func step() throws -> Bool {
        switch sqlite3_step(statement) {
        case SQLITE_ROW: return true
        case SQLITE_DONE: return false
        default:
            throw Failure(
                "SQLite: " + String(cString: sqlite3_errmsg(sqlite3_db_handle(statement))))
        }
    }

    func number(_ column: Int32) -> Double { sqlite3_column_double(statement, column) }

    /// Reads every column of the row, as a caller would.
    func touch() {
        for column in 0..<sqlite3_column_count(statement) {
            if sqlite3_column_type(statement, column) == SQLITE_FLOAT {
                _ = sqlite3_column_double(statement, column)
            } else {
                _ = sqlite3_column_text(statement, column)
            }
        }
    }

    private func position(of name: String) -> Int32 {
        if let known = positions[name] { return known }
        let position = sqlite3_bind_parameter_index(statement, name)
        positions[name] = position
        return position
    }
}
