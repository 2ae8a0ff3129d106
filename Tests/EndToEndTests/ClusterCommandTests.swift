import Foundation
import TestSupport
import Testing

/// `geobucket cluster new-history`: after PostgreSQL was restored and the caches are gone.
@Suite(
    .timeLimit(.minutes(10)), .needsPostgreSQL)
struct ClusterCommandTests {
    private static let command = ["cluster", "new-history"]

    @Test func `A store in PostgreSQL gets another history, and keeps its objects`() async throws {
        let url = PostgresServer.shared!.url
        let schema = "history_" + UUID().uuidString.lowercased().replacing("-", with: "_")
        let flags = ["--postgres-schema", schema]
        try await withTemporaryFolder { folder in
            let refused = try await Program.run(
                Self.command + ["--store", url] + flags, folder: folder)
            #expect(refused.status == 1)
            #expect(refused.errors.contains("there is no store in the schema \(schema)"))
            // Nothing was made: the schema can be filled.
            let store = folder + "/store.sqlite"
            try await TestService.with(path: store) { service in
                for number in 0..<3 { _ = try await service.put("o\(number)", "{}", in: "shops") }
            }
            let copied = try await Program.run(
                ["migrate", "--from", store, "--to", url] + flags, folder: folder)
            #expect(copied.status == 0, "\(copied.errors)")
            let begun = try await Program.run(
                Self.command + ["--store", url] + flags, folder: folder)
            #expect(begun.status == 0 && begun.errors.isEmpty, "\(begun.errors)")
            #expect(begun.output == "another history begins after change 3\n")
            let back = try await Program.run(
                ["migrate", "--from", url, "--to", folder + "/back.sqlite"] + flags,
                folder: folder)
            #expect(back.output.hasPrefix("3 objects in 1 bucket"), "\(back.errors)")
        }
    }

    @Test(arguments: [[], ["--store", "geobucket.sqlite"], ["--store", "mysql://h/d"]])
    func `Another history needs a store in PostgreSQL`(_ flags: [String]) async throws {
        try await withTemporaryFolder { folder in
            let run = try await Program.run(Self.command + flags, folder: folder)
            #expect(run.status == 2 && run.errors.contains("expected a --store in PostgreSQL"))
        }
    }

    @Test func `The help says when it is needed`() async throws {
        try await withTemporaryFolder { folder in
            let run = try await Program.run(Self.command + ["--help"], folder: folder)
            #expect(run.status == 0 && run.output.contains("restored from a backup"))
        }
    }
}
