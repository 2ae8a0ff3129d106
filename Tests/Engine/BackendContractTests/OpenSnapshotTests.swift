import BackendContract
import EmbeddedBackend
import Objects
import Runtime
import TestSupport
import Testing

@testable import PostgresBackend

/// What nodes do beside a transaction that stays open, as that of a `pg_dump`: until it ends, no row
/// that is replaced or deleted goes away.
@Suite(.needsPostgreSQL) struct OpenSnapshotTests {
    /// A session that has an open snapshot, as long as it is held.
    private static func dump(_ address: PostgresAddress) throws -> PostgresConnection {
        let clock = ServiceClock()
        let connection = try PostgresConnection(address, clock: clock)
        let begin = [
            "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", "SELECT pg_current_snapshot()",
        ]
        _ = try connection.run(
            begin.map { PostgresStatement($0) }, until: clock.deadline(after: hangTime))
        return connection
    }

    private static func connect(_ address: PostgresAddress) throws -> ClusterTables {
        try ClusterTables(address, answerTime: hangTime, clock: ServiceClock())
    }

    /// The pages that a statement reads.
    private static func pages(
        _ statement: PostgresStatement, _ tables: ClusterTables
    ) throws -> Int {
        let plan = try tables.run([
            PostgresStatement("EXPLAIN (ANALYZE, BUFFERS) " + statement.sql, statement.parameters)
        ])[0]
        let lines = (0..<plan.count).map { plan.text($0, 0) }
        // The first line is of the whole statement.
        let hits = lines.compactMap { $0.firstMatch(of: #/hit=(\d+)/#) }
        return Int(try #require(hits.first).1)!
    }

    /// The pages that a statement without parameters reads that a connection has prepared before.
    private static func pages(
        prepared statement: PostgresStatement, _ tables: ClusterTables
    ) throws -> Int {
        let name = try tables.run([
            PostgresStatement(
                "SELECT name FROM pg_prepared_statements WHERE statement = $1",
                .text(statement.sql))
        ])[0].text(0, 0)
        return try pages(PostgresStatement("EXECUTE \(name)"), tables)
    }

    @Test func `a look at the head reads as little beside an open snapshot as without one`()
        async throws
    {
        try await withTemporaryFolder { folder in
            let path = folder + "/nodes"
            let pair = try NodePair(.init(path: path))
            defer { try? pair.close() }
            let client = DirectClient(backend: pair, limits: Limits())
            let address = try NodePair.address(of: path)
            // A look whose plan was made when there was next to nothing.
            let tables = try Self.connect(address)
            _ = try tables.run([PostgresStatement("ANALYZE batch")])
            _ = try tables.head()
            let dump = try Self.dump(address)
            for number in 0..<2_000 {
                try await client.value(
                    "object.put", #"{"bucket":"shops","id":"o\#(number)","object":{}}"#)
            }
            // Two thousand rows are sixteen pages.
            #expect(try Self.pages(prepared: ClusterTables.headStatement, tables) < 10)
            withExtendedLifetime(dump) {}
        }
    }

    @Test func `a look for the oldest request does not pass what was forgotten`()
        async throws
    {
        try await withTemporaryFolder { folder in
            let address = try NodePair.address(of: folder + "/tables")
            let tables = try Self.connect(address)
            let filling = try ClusterTransaction(tables, after: 0, nil, keys: [])
            for number in 0..<2_001 {
                filling.remember(
                    RememberedRequest(time: 1, digest: [], answer: []), key: "k\(number)")
            }
            try filling.commit(StoreChanges(after: 1), as: .random())
            let dump = try Self.dump(address)
            _ = try tables.forget(tombstonesBefore: 0, requestsBefore: .max, atMost: 2_000)
            let looking = try ClusterTransaction(tables, after: 1, nil, keys: ["k2000"])
            #expect(try looking.request(key: "k2000") != nil)
            #expect(try looking.request(key: "k1999") == nil)
            #expect(try !looking.remembers(atLeast: 2) && looking.remembers(atLeast: 1))
            let oldest = tables.oldest.request
            #expect(try Self.pages(FoundRequests.totals(0), tables) >= 10)
            #expect(try Self.pages(FoundRequests.totals(oldest), tables) < 10)
            withExtendedLifetime(dump) {}
        }
    }

    @Test func `a node tells for how long the oldest snapshot is open`() async throws {
        try await withTemporaryFolder { folder in
            let path = folder + "/nodes"
            let dump = try Self.dump(try NodePair.address(of: path))
            let begin = ContinuousClock.now
            let node = try NodePair.node("late", .init(path: path))
            defer { try? node.close() }
            let least = Int64((ContinuousClock.now - begin) / .milliseconds(1))
            let isTold = try await waited {
                let cluster = node.statistics().cluster!
                return cluster.snapshotMilliseconds >= least && cluster.snapshotTransactions > 0
            }
            #expect(isTold, "\(node.statistics().cluster!)")
            withExtendedLifetime(dump) {}
        }
    }
}
