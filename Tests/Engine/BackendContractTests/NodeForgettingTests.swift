import Objects
import Runtime
import TestSupport
import Testing

@testable import PostgresBackend

/// What nodes keep in PostgreSQL for a time only.
@Suite(.needsPostgreSQL) struct NodeForgettingTests {
    @Test func `what is old is forgotten as fast as it can be, however much there is`()
        async throws
    {
        try await withTemporaryFolder { folder in
            var opening = BackendKind.Opening(path: folder + "/nodes")
            opening.tuning.housekeeping = .seconds(1)
            try NodePair.node("first", opening).close()
            let address = try NodePair.address(of: opening.path)
            let tables = try ClusterTables(address, answerTime: hangTime, clock: ServiceClock())
            _ = try tables.run([
                PostgresStatement(
                    """
                    INSERT INTO request (key, time, digest, answer)
                    SELECT 'k' || n, n, '\\x01', '\\x02' FROM generate_series(1, 20000) AS n
                    """),
                PostgresStatement(
                    """
                    INSERT INTO tombstone (change, creation, bucket, id, deleted)
                    SELECT n, n, 'shops', 'o' || n, n FROM generate_series(1, 20000) AS n
                    """),
                Self.batch(20_000, hours: 2),
            ])
            let node = try NodePair.node("second", opening)
            defer { try? node.close() }
            let isForgotten = try await waited {
                try ["request", "tombstone"].allSatisfy {
                    try tables.run([PostgresStatement("SELECT count(*) FROM \($0)")])[0]
                        .int(0, 0) == 0
                }
            }
            #expect(isForgotten)
        }
    }

    private static func batch(_ change: Int64, hours: Int64) -> PostgresStatement {
        PostgresStatement(
            "INSERT INTO batch VALUES (gen_random_uuid(), $1, now() - $2 * interval '1 hour')",
            .int(change), .int(hours))
    }

    /// By the clock of the node that forgets, all of them are old.
    @Test func `a deletion is known as long as a state before it is`() async throws {
        try await withTemporaryFolder { folder in
            try NodePair.node("first", .init(path: folder + "/nodes")).close()
            let address = try NodePair.address(of: folder + "/nodes")
            let tables = try ClusterTables(address, answerTime: hangTime, clock: ServiceClock())
            _ = try tables.run([
                PostgresStatement(
                    """
                    INSERT INTO tombstone (change, creation, bucket, id, deleted)
                    SELECT n, n, 'shops', 'o' || n, n FROM generate_series(1, 200) AS n
                    """), Self.batch(100, hours: 2), Self.batch(200, hours: 0),
            ])
            for _ in 0..<3 {
                _ = try tables.forget(
                    tombstonesBefore: .max, requestsBefore: 0, atMost: 1_000)
            }
            let rows = try tables.run([
                PostgresStatement("SELECT min(change), max(change) FROM tombstone")
            ])[0]
            #expect(rows.int(0, 0) == 101)
            #expect(rows.int(0, 1) == 200)
        }
    }
}
