import Objects
import Runtime
import TestSupport
import Testing

@testable import PostgresStore

/// What nodes keep in PostgreSQL for a time only.
@Suite(.enabled(if: PostgresServer.shared != nil)) struct NodeForgettingTests {
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
                PostgresStatement("INSERT INTO batch VALUES (gen_random_uuid(), 20000)"),
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
}
