import BackendContract
import Objects
import Runtime

/// The epochs of the tables, and what has become of batches that somebody else has seen.
extension ClusterTables {
    /// Begins another epoch, unless another node already has.
    ///
    /// - Parameter epoch: the epoch that ends.
    public func endEpoch(_ epoch: UUIDBytes) throws(PostgresFailure) {
        do throws(PostgresFailure) {
            _ = try run([
                PostgresStatement(
                    "UPDATE head SET epoch = gen_random_uuid() WHERE epoch = $1", .uuid(epoch)),
                Self.announcement(on: channel),
            ])
        } catch .locked {
            throw .unavailable("another session holds the row of head")
        }
    }

    /// Begins another epoch of the tables at an address, whichever they have.
    ///
    /// - Returns: the number of the last change.
    /// - Throws: `.unusable` if there are no tables; they are not made.
    public static func beginEpoch(
        at address: PostgresAddress, clock: ServiceClock = ServiceClock()
    ) throws(PostgresFailure) -> ChangeNumber {
        let connection = try PostgresConnection(address, clock: clock)
        let deadline = clock.deadline(after: .seconds(30))
        try ClusterSchema.selectSchema(connection, address.schema, until: deadline)
        let areThere = try connection.run(
            [PostgresStatement("SELECT to_regclass('head') IS NOT NULL")], until: deadline)
        guard areThere[0].bool(0, 0) else {
            throw .unusable("there is no store in the schema \(address.schema)")
        }
        let rows = try connection.run(
            [
                PostgresStatement(
                    "UPDATE head SET epoch = gen_random_uuid() RETURNING \(lastChange)"),
                announcement(on: address.channel),
            ], until: deadline)
        return ChangeNumber(rows[0].int(0, 0))
    }

    /// Lets the nodes look at the head.
    private static func announcement(on channel: String) -> PostgresStatement {
        PostgresStatement(
            "SELECT pg_notify($1, \(lastChange)::text)", .text(channel))
    }

    /// What has become of a batch.
    ///
    /// - Parameters:
    ///   - beginning: the first bytes of its id.
    ///   - change: a change that the batch, or one before it, led to.
    public func past(
        ofBatchThatBegins beginning: some Collection<UInt8>, at change: ChangeNumber
    ) throws(PostgresFailure) -> Past {
        let rest = 16 - beginning.count
        let ends = [UInt8.min, .max].map {
            UUIDBytes(Array(beginning) + Array(repeating: $0, count: rest))
        }
        let rows = try run([
            PostgresStatement(
                """
                SELECT CASE WHEN EXISTS (SELECT FROM batch WHERE id BETWEEN $1 AND $2)
                        THEN 'known'
                    WHEN (SELECT min(last_change) FROM batch) > $3 THEN 'forgotten'
                    ELSE 'lost' END
                """, .uuid(ends[0]), .uuid(ends[1]), .int(Int64(change)))
        ])[0]
        return Self.past(rows, column: 0)
    }
}
