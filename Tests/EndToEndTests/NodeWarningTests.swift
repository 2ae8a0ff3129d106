import Foundation
import Glibc
import TestSupport
import Testing

/// What a node with `--copies` says in its log of the way between nodes.
@Suite(.timeLimit(.minutes(5)), .needsPostgreSQL)
struct NodeWarningTests {
    private static let warning = "nodes speak without TLS"

    private static func log(_ flags: [String], in folder: String) async throws -> String {
        let schema = "warning_" + UUID().uuidString.lowercased().replacing("-", with: "_")
        let cluster = [
            "--cache", folder + "/cache.sqlite", "--postgres-schema", schema, "--copies", "1",
            "--cluster-token", "0123456789abcdef",
        ]
        return try await Program.serve(
            store: PostgresServer.shared!.url, folder: folder, flags: cluster + flags
        ) { process, _ in
            process.signal(SIGTERM)
            #expect(await process.end() == 0, "\(process.standardError)")
            return process.standardError
        }
    }

    @Test(arguments: [
        ([], false), (["--advertise", "localhost:4362"], false),
        (["--advertise", "10.0.0.7:4362"], true),
        (["--advertise-to-nodes", "node-a:4362"], true),
        (["--advertise", "10.0.0.7:4362", "--advertise-to-nodes", "[::1]:4362"], false),
    ])
    func `A node that other machines reach without TLS warns of it`(
        _ flags: [String], _ warns: Bool
    ) async throws {
        try await withTemporaryFolder { folder in
            let log = try await Self.log(flags, in: folder)
            #expect(log.contains(Self.warning) == warns, "\(log)")
        }
    }

    @Test func `A node that speaks TLS does not warn`() async throws {
        try await withTemporaryFolder { folder in
            let identity = try TestAuthority(folder: folder).issue("node")
            let log = try await Self.log(
                [
                    "--advertise", "node-a:4362", "--tls-certificate", identity.certificate,
                    "--tls-key", identity.key,
                ], in: folder)
            #expect(!log.contains(Self.warning), "\(log)")
        }
    }
}
