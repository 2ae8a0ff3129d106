import EmbeddedBackend
import Foundation
import Objects
import Runtime
import TestSupport
import Testing

@testable import PostgresBackend

/// What a node finds out about PostgreSQL and its role before it is ready.
@Suite(.needsPostgreSQL) struct NodeStartTests {
    /// Tables of a test's own, and a role that has `rights` in them.
    private struct Tables {
        let schema: String
        var role: String { "role_\(schema)" }
        let folder: String

        init(in folder: String) throws {
            self.folder = folder
            schema = try NodePair.address(of: folder + "/node").schema
            try NodePair.node("owner", .init(path: folder + "/node")).close()
            try run([
                "CREATE ROLE \(role) LOGIN", "GRANT USAGE ON SCHEMA \(schema) TO \(role)",
                "GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA \(schema) TO \(role)",
            ])
        }

        /// Runs statements as the superuser.
        func run(_ statements: [String]) throws {
            let clock = ServiceClock()
            let connection = try PostgresConnection(
                try NodePair.address(of: folder + "/node"), clock: clock)
            let deadline = clock.deadline(after: hangTime)
            try ClusterSchema.selectSchema(connection, schema, until: deadline)
            _ = try connection.run(statements.map { PostgresStatement($0) }, until: deadline)
        }

        func address(_ url: String = PostgresServer.shared!.url) throws -> PostgresAddress {
            try PostgresAddress(
                url: url.replacing("user=geobucket", with: "user=\(role)"), schema: schema)
        }

        /// A node that would wait for an outage to end for as long as a test may take.
        func start(
            _ address: PostgresAddress, _ log: LogLines = LogLines()
        ) throws(StoreFailure) -> PostgresBackend {
            var limits = Limits()
            limits.failoverMilliseconds = Int(hangTime / .milliseconds(1))
            return try PostgresBackend(
                .init(address: address, cache: folder + "/cache"), limits: limits,
                logger: log.logger)
        }

        /// Why a node does not start, which it says without waiting.
        func refusal(_ address: PostgresAddress) throws -> String {
            let begin = ContinuousClock.now
            do throws(StoreFailure) {
                try start(address).close()
                return ""
            } catch {
                #expect(ContinuousClock.now - begin < hangTime / 2)
                return error.description
            }
        }
    }

    @Test(arguments: [
        ("UPDATE", "head"), ("INSERT", "batch"), ("DELETE", "object"), ("SELECT", "setting"),
    ])
    func `a role that lacks a right in a table is told which`(
        right: String, table: String
    ) async throws {
        try await withTemporaryFolder { folder in
            let tables = try Tables(in: folder)
            let address = try tables.address()
            try tables.start(address).close()
            try tables.run(["REVOKE \(right) ON \(table) FROM \(tables.role)"])
            let refusal = try tables.refusal(address)
            #expect(refusal.contains(table), "\(refusal)")
            if right != "SELECT" {
                #expect(refusal.contains("\(right) on \(table)"), "\(refusal)")
                #expect(refusal.contains("GRANT"), "\(refusal)")
            }
        }
    }

    @Test func `settings of the role that would harm a node do not apply to it`() async throws {
        try await withTemporaryFolder { folder in
            let tables = try Tables(in: folder)
            let settings = [
                ("default_transaction_isolation", "'serializable'", "read committed"),
                ("statement_timeout", "'1min'", "0"), ("idle_session_timeout", "'1min'", "0"),
                ("client_min_messages", "'error'", "warning"),
            ]
            try tables.run(settings.map { "ALTER ROLE \(tables.role) SET \($0.0) = \($0.1)" })
            let connected = try ClusterTables(
                try tables.address(), answerTime: hangTime, clock: ServiceClock())
            for (name, _, value) in settings {
                let found = try connected.run([PostgresStatement("SHOW \(name)")])[0].text(0, 0)
                #expect(found == value, "\(name)")
            }
        }
    }

    @Test func `a database that does not exist is not waited for`() async throws {
        try await withTemporaryFolder { folder in
            let tables = try Tables(in: folder)
            let url = PostgresServer.shared!.url.replacing("/postgres?", with: "/missing?")
            let refusal = try tables.refusal(try tables.address(url))
            #expect(refusal.contains("\"missing\" does not exist"), "\(refusal)")
        }
    }

    @Test func `what weakens the promises is logged`() async throws {
        try await withTemporaryFolder { folder in
            let tables = try Tables(in: folder)
            try tables.run(["ALTER ROLE \(tables.role) SET synchronous_commit = off"])
            let log = LogLines()
            try tables.start(try tables.address(), log).close()
            // The tests' server does not sync its files.
            for setting in ["synchronous_commit", "fsync"] {
                #expect(log.all(from: .warning).contains { $0.contains(setting) }, "\(log.all)")
            }
        }
    }

    @Test(.enabled(if: Pooler.program != nil, "PgBouncer is not installed"))
    func `a pooler has to keep the sessions of a node`() async throws {
        try await withTemporaryFolder { folder in
            let tables = try Tables(in: folder)
            let shared = try Pooler("transaction", as: tables.role)
            let refusal = try tables.refusal(try tables.address(shared.url))
            #expect(refusal.contains("pool_mode = session"), "\(refusal)")
            let own = try Pooler("session", as: tables.role)
            try tables.start(try tables.address(own.url)).close()
            withExtendedLifetime((shared, own)) {}
        }
    }
}

/// PgBouncer before the tests' server, in a temporary folder.
private final class Pooler {
    static let program = ["/usr/sbin/pgbouncer", "/usr/bin/pgbouncer"].first {
        FileManager.default.isExecutableFile(atPath: $0)
    }

    let url: String
    private let process = Process()
    private let lifeline = Pipe()

    /// - Parameter mode: `session` or `transaction`.
    init(_ mode: String, as role: String) throws {
        let folder = "/tmp/geobucket-pooler-\(UUID().uuidString.prefix(8))"
        url = "postgresql:///postgres?host=\(folder)&port=6432&user=geobucket"
        // It refuses to run as root.
        let script = """
            set -e
            mkdir "$1"
            cat >"$1/ini" <<END
            [databases]
            * = host=$2 user=$3
            [pgbouncer]
            listen_port = 6432
            unix_socket_dir = $1
            auth_type = any
            pool_mode = $4
            logfile = $1/log
            END
            as=
            if [ "$(id -u)" = 0 ]; then
                chown postgres "$1"
                as="setpriv --reuid=postgres --regid=postgres --clear-groups"
            fi
            $as "$5" -q "$1/ini" </dev/null &
            pooler=$!
            cat >/dev/null
            kill $pooler
            wait $pooler || true
            rm -rf "$1"
            """
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        process.arguments = [
            "-c", script, "sh", folder, PostgresServer.shared!.folder, role, mode, Self.program!,
        ]
        process.standardInput = lifeline
        try process.run()
        let end = ContinuousClock.now + hangTime
        while !FileManager.default.fileExists(atPath: folder + "/.s.PGSQL.6432") {
            guard process.isRunning, ContinuousClock.now < end else {
                throw POSIXError(.ECONNREFUSED)
            }
            usleep(20_000)
        }
    }
}
