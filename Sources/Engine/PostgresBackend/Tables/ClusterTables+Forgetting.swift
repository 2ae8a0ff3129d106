/// Numbers below which four tables have no rows any more.
///
/// What is deleted at the beginning of an index stays there as long as any transaction in the database
/// is open. A look for the oldest row that begins here does not pass it.
struct OldestRows {
    var tombstone: Int64 = 0
    var request: Int64 = 0
    var batch: Int64 = 0
    var deletion: Int64 = 0
}

extension ClusterTables {
    /// Deletes some tombstones and requests that are older than some times, in milliseconds since
    /// 1970, and some batches that were followed by another one more than an hour ago. So the batch
    /// that led to the present state is known, however old it is. What comes before an old row is
    /// old, even if a clock that was ahead gave it a later time. A deletion after the oldest batch
    /// stays, whatever its time: a node whose state that batch led to has to learn of it.
    ///
    /// - Parameter count: the most tombstones, and the most requests, that are deleted.
    /// - Returns: whether there may be more to delete.
    public func forget(
        tombstonesBefore: Int64, requestsBefore: Int64, atMost count: Int64
    ) throws(PostgresFailure) -> Bool {
        let results = try run([
            PostgresStatement(
                """
                DELETE FROM tombstone WHERE change >= $3 AND change <= (SELECT max(change) FROM
                    (SELECT change, deleted FROM tombstone WHERE change >= $3
                        ORDER BY change LIMIT $2) AS oldest
                    WHERE deleted < $1)
                    AND change <= (SELECT min(last_change) FROM batch WHERE last_change >= $4)
                """, .int(tombstonesBefore), .int(count), .int(oldest.tombstone), .int(oldest.batch)
            ).counting,
            FoundRequests.forgetting("<", requestsBefore, count, from: oldest.request).counting,
            PostgresStatement(
                """
                DELETE FROM batch WHERE last_change >= $2 AND last_change < (SELECT max(last_change)
                    FROM (SELECT last_change, at FROM batch WHERE last_change >= $2
                        ORDER BY last_change LIMIT $1) AS oldest
                    WHERE at < now() - interval '1 hour')
                """, .int(count * 10), .int(oldest.batch)
            ).counting,
            PostgresStatement(
                """
                SELECT least((SELECT min(change) FROM tombstone WHERE change >= $1),
                        (SELECT min(first_change) FROM deletion WHERE first_change >= $4)),
                    (SELECT min(number) FROM request WHERE number >= $2),
                    (SELECT min(last_change) FROM batch WHERE last_change >= $3)
                """, .int(oldest.tombstone), .int(oldest.request), .int(oldest.batch),
                // Lists become tombstones.
                .int(oldest.deletion)),
        ])
        let rows = results[3]
        oldest.tombstone = rows.optionalInt(0, 0) ?? oldest.tombstone
        oldest.request = rows.optionalInt(0, 1) ?? oldest.request
        oldest.batch = rows.optionalInt(0, 2) ?? oldest.batch
        return results[..<3].contains { $0.int(0, 0) >= count }
    }

    /// For how long, in milliseconds, and for how many transactions the oldest snapshot is open that
    /// somebody has of this database: a session, a prepared transaction, or a standby or slot that
    /// reports its own. As long as it is, no dead row goes away.
    ///
    /// For how long is unknown of a standby and a slot, and everything of sessions of other roles
    /// unless the node's role may see them (`pg_read_all_stats`).
    public func oldestSnapshot() throws(PostgresFailure) -> (
        milliseconds: Int64, transactions: Int64
    ) {
        let rows = try run([
            PostgresStatement(
                """
                SELECT coalesce(max(extract(epoch FROM clock_timestamp() - since) * 1000), 0)::bigint,
                    coalesce(max(age(xmin)), 0)::bigint
                FROM (SELECT backend_xmin, xact_start FROM pg_stat_activity
                    WHERE pid <> pg_backend_pid() AND backend_xmin IS NOT NULL
                        AND (datname = current_database() OR datname IS NULL)
                    UNION ALL SELECT xmin, NULL FROM pg_replication_slots WHERE xmin IS NOT NULL
                    UNION ALL SELECT transaction, prepared FROM pg_prepared_xacts
                    WHERE database = current_database()) AS snapshot (xmin, since)
                """)
        ])[0]
        return (rows.int(0, 0), rows.int(0, 1))
    }

    /// Whether `oldestSnapshot` tells of the sessions of all roles.
    public func seesAllSessions() throws(PostgresFailure) -> Bool {
        try run([PostgresStatement("SELECT pg_has_role('pg_read_all_stats', 'USAGE')")])[0].bool(
            0, 0)
    }
}

extension PostgresStatement {
    /// A deletion that tells how many rows it has deleted.
    fileprivate var counting: PostgresStatement {
        PostgresStatement(
            "WITH gone AS (\(sql) RETURNING 1) SELECT count(*) FROM gone", parameters)
    }
}
