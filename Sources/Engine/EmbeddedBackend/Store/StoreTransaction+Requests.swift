import BackendContract
import GRDB

extension StoreTransaction: RequestLedger {
    /// The write that is remembered under a key; nil if there is none.
    public func request(key: String) throws -> RememberedRequest? {
        try SQLStatement(db, "SELECT time, digest, answer FROM request WHERE key = ?1")
            .bind(1, key).first {
                RememberedRequest(
                    time: $0.int(0), digest: $0.bytes(1).map { Array($0) } ?? [],
                    answer: $0.bytes(2).map { Array($0) } ?? [])
            }
    }

    /// Remembers a request and forgets an older one with the same key.
    public func remember(_ request: RememberedRequest, key: String) throws {
        try SQLStatement(db, "DELETE FROM request WHERE key = ?1").bind(1, key).run()
        let sql = "INSERT INTO request (key, time, digest, answer) VALUES (?1, ?2, ?3, ?4)"
        try SQLStatement(db, sql)
            .bind(1, key).bind(2, request.time).bind(3, blob: request.digest)
            .bind(4, blob: request.answer).run()
    }

    /// Whether at least so many requests are remembered, by the numbers of the oldest and the latest:
    /// gaps between them count too. O(log n).
    public func remembers(atLeast count: Int) throws -> Bool {
        let sql =
            "SELECT ifnull((SELECT max(number) FROM request) + 1, 0) - "
            + "ifnull((SELECT min(number) FROM request), 0)"
        return try SQLStatement(db, sql).first { $0.int(0) >= count } ?? (count <= 0)
    }

    /// The time of the oldest remembered request, in milliseconds since 1970; nil if there is none.
    public func oldestRequestTime() throws -> Int64? {
        try SQLStatement(db, "SELECT time FROM request ORDER BY number LIMIT 1").first { $0.int(0) }
    }
}
