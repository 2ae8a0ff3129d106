import BackendContract
import GRDB
import Objects

/// Forgets what is kept for a time: deletions, and the writes that were done under a key.
///
/// Rows are numbered in the order in which they were written. So whatever comes before an old row
/// is old, even if a clock that was ahead gave it a later time. If no old row follows, an *age mark*
/// tells: a time at which the rows up to some number were there.
extension StoreTransaction {
    /// Deletes at most `count` of the oldest tombstones, and only those before `time`, in
    /// milliseconds since 1970.
    ///
    /// - Parameter now: the present time.
    /// - Returns: the number of deleted tombstones.
    public func deleteTombstones(
        before time: Int64, now: Int64, atMost count: Int
    ) throws -> Int {
        let marked = try markedNumber(.tombstone, before: time, now: now)
        let last = try lastOld(.tombstone, before: time, (marked, now), atMost: count)
        guard let last else { return 0 }
        try noteForgottenDeletions(upTo: ChangeNumber(last))
        return try delete(.tombstone, upTo: last)
    }

    /// Forgets at most `count` of the oldest requests, and only those that are not after `time`, in
    /// milliseconds since 1970.
    public func deleteRequests(until time: Int64, atMost count: Int) throws {
        let last = try lastOld(.request, before: time + 1, nil, atMost: count)
        if let last { _ = try delete(.request, upTo: last) }
    }

    /// Forgets the same, and those that a clock that was ahead has written.
    ///
    /// - Parameter now: the present time.
    /// - Returns: the number of forgotten requests.
    public func deleteRequests(until time: Int64, now: Int64, atMost count: Int) throws -> Int {
        let marked = try markedNumber(.request, before: time + 1, now: now)
        let last = try lastOld(.request, before: time + 1, (marked, now), atMost: count)
        return try last.map { try delete(.request, upTo: $0) } ?? 0
    }

    private enum AgedTable: String {
        case tombstone, request

        var number: String { self == .tombstone ? "change" : "number" }
        var time: String { self == .tombstone ? "deleted" : "time" }
        var mark: String { "age mark of \(rawValue)" }
    }

    /// The last old one of the oldest `count` rows.
    ///
    /// - Parameter marked: the number up to which rows are old that are from after the present time.
    private func lastOld(
        _ table: AgedTable, before time: Int64, _ marked: (number: Int64, now: Int64)?,
        atMost count: Int
    ) throws -> Int64? {
        let sql = """
            SELECT number FROM (SELECT \(table.number) AS number, \(table.time) AS time
                FROM \(table.rawValue) ORDER BY \(table.number) LIMIT ?1)
            WHERE time < ?2 OR (time > ?3 AND number <= ?4) ORDER BY number DESC LIMIT 1
            """
        return try SQLStatement(db, sql).bind(1, Int64(count)).bind(2, time)
            .bind(3, marked?.now ?? .max).bind(4, marked?.number ?? 0).first { $0.int(0) }
    }

    private func delete(_ table: AgedTable, upTo number: Int64) throws -> Int {
        try SQLStatement(db, "DELETE FROM \(table.rawValue) WHERE \(table.number) <= ?1")
            .bind(1, number).run()
        return db.changesCount
    }

    /// The number up to which the rows of a table were there before a time; 0 if that is unknown.
    ///
    /// A table has one mark, and gets another when the rows of that one are gone.
    private func markedNumber(
        _ table: AgedTable, before time: Int64, now: Int64
    ) throws -> Int64 {
        let mark = try mark(of: table)
        // A mark in the future was made by a clock that was ahead.
        if let mark, (time...now).contains(mark.time) { return 0 }
        let ends = "SELECT min(\(table.number)), max(\(table.number)) FROM \(table.rawValue)"
        let (first, last) = try SQLStatement(db, ends).first { ($0.int(0), $0.int(1)) } ?? (0, 0)
        if let mark, mark.time < time, first > 0, first <= mark.number { return mark.number }
        try set(table.mark, to: Self.bytes(now) + Self.bytes(last))
        return 0
    }

    private func mark(of table: AgedTable) throws -> (time: Int64, number: Int64)? {
        try SQLStatement(db, "SELECT value FROM setting WHERE name = ?1").bind(1, table.mark)
            .first { rows in
                let bytes = rows.bytes(0).map { Array($0) } ?? []
                return (Self.number(bytes.prefix(8)), Self.number(bytes.dropFirst(8)))
            }
    }

    private static func bytes(_ number: Int64) -> [UInt8] {
        withUnsafeBytes(of: number.bigEndian) { Array($0) }
    }

    private static func number(_ bytes: ArraySlice<UInt8>) -> Int64 {
        bytes.reduce(0) { $0 << 8 | Int64($1) }
    }
}
