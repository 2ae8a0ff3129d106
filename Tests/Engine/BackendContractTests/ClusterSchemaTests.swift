import Runtime
import TestSupport
import Testing

@testable import PostgresBackend

/// The migrations of the tables in PostgreSQL.
@Suite(.needsPostgreSQL) struct ClusterSchemaTests {
    private static func run(
        _ statements: [String], _ connection: PostgresConnection
    ) throws(PostgresFailure) -> [PostgresRows] {
        try connection.run(
            statements.map { PostgresStatement($0) },
            until: connection.clock.deadline(after: hangTime))
    }

    /// Makes the tables of an earlier version, at change 7.
    private static func tables(
        of version: Int, at address: PostgresAddress, knowingBatch: Bool
    ) throws -> PostgresConnection {
        let connection = try PostgresConnection(address, clock: ServiceClock())
        let deadline = connection.clock.deadline(after: hangTime)
        try ClusterSchema.selectSchema(connection, address.schema, until: deadline)
        let creations = ClusterSchema.migrations.prefix(version).flatMap {
            $0.split(separator: ";").map(String.init)
        }
        _ = try run(
            ["CREATE SCHEMA \(address.schema)"]
                + creations.filter { !$0.allSatisfy(\.isWhitespace) }
                + [
                    "INSERT INTO setting VALUES ('schema version', convert_to('\(version)', 'UTF8'))",
                    "UPDATE head SET change = 7",
                ], connection)
        if knowingBatch {
            _ = try run(["INSERT INTO batch VALUES (gen_random_uuid(), 7)"], connection)
        }
        return connection
    }

    /// The statement with which programs of version 2 lock the head.
    private static let formerLock = "SELECT change, epoch FROM head FOR UPDATE"

    @Test(arguments: [true, false])
    func `tables of version 2 keep their head, and their programs can no longer write`(
        knowingBatch: Bool
    ) async throws {
        try await withTemporaryFolder { folder in
            let address = try NodePair.address(of: folder + "/tables")
            let former = try Self.tables(of: 2, at: address, knowingBatch: knowingBatch)
            let head = ClusterTables.head(try Self.run([Self.formerLock], former)[0])
            let tables = try ClusterTables(
                address, answerTime: hangTime, clock: ServiceClock())
            #expect(try tables.head() == head)
            #expect(head.change == 7)
            let tail = try tables.tail(after: 7, nil)
            #expect(tail.batch != nil && tail.changes.isEmpty)
            #expect(throws: PostgresFailure.self) { try Self.run([Self.formerLock], former) }
        }
    }

    @Test func `a migration does not wait for long for those who read the tables`() async throws {
        try await withTemporaryFolder { folder in
            let address = try NodePair.address(of: folder + "/tables")
            let dump = try Self.tables(of: 2, at: address, knowingBatch: true)
            _ = try Self.run(["BEGIN", "SELECT FROM head"], dump)
            do throws(PostgresFailure) {
                _ = try ClusterTables(address, answerTime: hangTime, clock: ServiceClock())
                Issue.record("the tables were migrated while they were read")
            } catch {
                guard case .unavailable(let reason) = error else { throw error }
                #expect(reason.contains("pg_dump"))
            }
            _ = try Self.run(["COMMIT"], dump)
            let tables = try ClusterTables(address, answerTime: hangTime, clock: ServiceClock())
            #expect(try tables.head().change == 7)
        }
    }
}
