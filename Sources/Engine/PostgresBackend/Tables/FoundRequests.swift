import BackendContract
import Objects

/// The requests that a transaction has looked up, and what it does with requests.
struct FoundRequests {
    var found: [String: RememberedRequest?] = [:]
    private var remembered: [(key: String, request: RememberedRequest)] = []
    var count = 0
    var oldest: Int64?
    var forgotten: (until: Int64, count: Int)?

    static func statements(keys: [String], from oldest: Int64) -> [PostgresStatement] {
        [
            PostgresStatement(
                "SELECT key, time, digest, answer FROM request WHERE key = ANY ($1)",
                .texts(keys)), totals(oldest),
        ]
    }

    /// Asks how many requests there are, and for the time and the number of the oldest, which is not
    /// below a number.
    static func totals(_ oldest: Int64) -> PostgresStatement {
        PostgresStatement(
            """
            SELECT coalesce((SELECT max(number) FROM request) + 1 - oldest.number, 0),
                oldest.time, oldest.number
            FROM (VALUES (true)) AS one LEFT JOIN
                (SELECT number, time FROM request WHERE number >= $1 ORDER BY number LIMIT 1) AS oldest
                ON true
            """, .int(oldest))
    }

    /// - Returns: the number of the oldest request; nil if there is none.
    mutating func take(_ rows: ArraySlice<PostgresRows>, keys: [String]) -> Int64? {
        let first = rows[rows.startIndex]
        for key in keys where found[key] == nil { found[key] = .some(nil) }
        for row in 0..<first.count {
            found[first.text(row, 0)] = RememberedRequest(
                time: first.int(row, 1), digest: Array(first.bytes(row, 2)),
                answer: Array(first.bytes(row, 3)))
        }
        return takeTotals(rows[rows.startIndex + 1])
    }

    /// - Returns: as for `take`.
    mutating func takeTotals(_ totals: PostgresRows) -> Int64? {
        count = Int(totals.int(0, 0)) + remembered.count
        oldest = totals.optionalInt(0, 1)
        return totals.optionalInt(0, 2)
    }

    func isKnown(_ key: String) -> Bool { found.index(forKey: key) != nil }

    mutating func remember(_ request: RememberedRequest, key: String) {
        remembered.append((key, request))
        found[key] = request
        count += 1
    }

    /// The statements that forget what is to be forgotten; nil if there is nothing old enough.
    mutating func takeForgetting(from number: Int64) -> [PostgresStatement]? {
        guard let forgotten, let oldest, oldest <= forgotten.until else { return nil }
        defer { self.forgotten = nil }
        return forgetting(from: number)
    }

    private func forgetting(from number: Int64) -> [PostgresStatement] {
        guard let forgotten else { return [] }
        return [
            Self.forgetting("<=", forgotten.until, Int64(forgotten.count), from: number)
        ]
    }

    /// Deletes some of the oldest requests, of which none is below a number.
    ///
    /// - Parameter comparison: what the time of a request is to be, compared with `time`: `<`, `<=`.
    static func forgetting(
        _ comparison: StaticString, _ time: Int64, _ count: Int64, from number: Int64
    ) -> PostgresStatement {
        PostgresStatement(
            """
            DELETE FROM request WHERE number >= $3 AND number <= (SELECT max(number) FROM
                (SELECT number, time FROM request WHERE number >= $3
                    ORDER BY number LIMIT $2) AS oldest
                WHERE time \(comparison) $1)
            """, .int(time), .int(count), .int(number))
    }

    /// Whether there is something to write.
    var hasChanged: Bool { forgotten != nil || !remembered.isEmpty }

    /// The statements that write what was remembered and forgotten. No request is below a number.
    func statements(from number: Int64) -> [PostgresStatement] {
        var statements = forgetting(from: number)
        guard !remembered.isEmpty else { return statements }
        statements.append(
            PostgresStatement(
                "DELETE FROM request WHERE key = ANY ($1)", .texts(remembered.map(\.key))))
        return statements + [Self.insertion(remembered)]
    }

    static func insertion(
        _ requests: [(key: String, request: RememberedRequest)]
    ) -> PostgresStatement {
        PostgresStatement(
            """
            INSERT INTO request (key, time, digest, answer)
            SELECT * FROM unnest($1::text[], $2::bigint[], $3::bytea[], $4::bytea[])
            """, .texts(requests.map(\.key)), .ints(requests.map(\.request.time)),
            .byteas(requests.map(\.request.digest)), .byteas(requests.map(\.request.answer)))
    }
}
