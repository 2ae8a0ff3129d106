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
            ["BEGIN", "CREATE SCHEMA \(address.schema)"]
                + creations.filter { !$0.allSatisfy(\.isWhitespace) }
                + [
                    "INSERT INTO setting VALUES ('schema version', convert_to('\(version)', 'UTF8'))"
                ] + (version < 3 ? ["UPDATE head SET change = 7"] : []) + ["COMMIT"], connection)
        if knowingBatch {
            _ = try run(["INSERT INTO batch VALUES (gen_random_uuid(), 7)"], connection)
        }
        return connection
    }

    /// The tables of this version. Those who make others meanwhile may keep it waiting for too long.
    private static func migrated(_ address: PostgresAddress) async throws -> ClusterTables {
        var tables: ClusterTables?
        _ = try await waited {
            do throws(PostgresFailure) {
                tables = try ClusterTables(address, answerTime: hangTime, clock: ServiceClock())
            } catch {
                guard case .unavailable = error else { throw error }
            }
            return tables != nil
        }
        return try #require(tables)
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
            let tables = try await Self.migrated(address)
            #expect(try tables.head() == head)
            #expect(head.change == 7)
            let tail = try tables.tail(after: 7, nil)
            #expect(tail.batch != nil && tail.changes.isEmpty)
            #expect(throws: PostgresFailure.self) { try Self.run([Self.formerLock], former) }
        }
    }

    @Test func `programs of version 4 can no longer take over what others write`() async throws {
        try await withTemporaryFolder { folder in
            let address = try NodePair.address(of: folder + "/tables")
            let former = try Self.tables(of: 4, at: address, knowingBatch: true)
            let names = "SELECT number, path, change FROM geo_field WHERE change > 6"
            _ = try Self.run([names], former)
            let tables = try await Self.migrated(address)
            #expect(try tables.tail(after: 7, nil).changes.isEmpty)
            #expect(throws: PostgresFailure.self) { try Self.run([names], former) }
            let version =
                "SELECT convert_from(value, 'UTF8') FROM setting WHERE name = 'schema version'"
            #expect(try Self.run([version], former)[0].text(0, 0) == "5")
        }
    }

    @Test func `tables of a later version are refused, and stay as they are`() async throws {
        try await withTemporaryFolder { folder in
            let address = try NodePair.address(of: folder + "/tables")
            let later = ClusterSchema.version + 1
            _ = try Self.tables(of: ClusterSchema.version, at: address, knowingBatch: true)
            let connection = try PostgresConnection(address, clock: ServiceClock())
            try ClusterSchema.selectSchema(
                connection, address.schema, until: connection.clock.deadline(after: hangTime))
            _ = try Self.run(
                ["UPDATE setting SET value = convert_to('\(later)', 'UTF8')"], connection)
            do throws(PostgresFailure) {
                _ = try ClusterTables(address, answerTime: hangTime, clock: ServiceClock())
                Issue.record("the tables were taken")
            } catch {
                #expect(error.description.contains("version \(later), this one knows"))
            }
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
