import Foundation
import TestSupport
import Testing

/// The example clients of Kii's REST interface, each run against a service as a program.
@Suite(.timeLimit(.minutes(5))) struct KiiClientTests {
    private static let python = ("python3", "Examples/kii-python/kii.py")
    private static let node = ("node", "Examples/kii-node/kii.js")

    private static func tool(_ name: String) -> String? {
        ["/usr/bin/", "/bin/", "/usr/local/bin/"].map { $0 + name }.first {
            FileManager.default.isExecutableFile(atPath: $0)
        }
    }

    private static let shown = [
        "saved \"2\" 20 null", "an older version: 409 OBJECT_VERSION_IS_STALE",
        "an id that exists: 409 OBJECT_ALREADY_EXISTS", "Tower 444 2", "Station 2818 1",
        "Kiosk 0 6339 1", "Kiosk 1 7163 1", "Kiosk 2 8056 1", "Kiosk 3 8998 1", "Kiosk 4 9976 1",
        "open: 2", "a point off the earth: 400 INVALID_INPUT_DATA",
        "after a delete: 404 OBJECT_NOT_FOUND",
    ]

    /// Runs a client against a service, and returns what it shows line by line.
    private static func run(
        _ client: (String, String), in folder: String, flags: [String], _ more: String...
    ) async throws -> [String] {
        try await Program.serve(
            store: folder + "/s.sqlite", folder: folder,
            flags: ["--web", "127.0.0.1:0", "--kii-app", "myapp", "--kii-key", "mykey"] + flags
        ) { service, _ in
            let line = try #require(
                service.standardOutput.split(separator: "\n").first {
                    $0.hasPrefix("geobucket web on ")
                })
            let script = Program.packageRoot + "/" + client.1
            let url = "http://" + line.dropFirst("geobucket web on ".count)
            let process = try ChildProcess.start(
                tool(client.0)!, [script, url, "myapp", "mykey"] + more, folder: folder)
            let end = await process.end()
            #expect(end == 0, "\(client.1): \(process.standardError)")
            return process.standardOutput.replacing("None", with: "null")
                .split(separator: "\n").map(String.init)
        }
    }

    private static func runWithoutToken(_ client: (String, String)) async throws {
        try await withTemporaryFolder { folder in
            let lines = try await Self.run(client, in: folder, flags: [])
            #expect(lines == Self.shown + ["left: 0"])
        }
    }

    private static func runWithToken(_ client: (String, String)) async throws {
        try await withTemporaryFolder { folder in
            let made = try await Program.run(
                ["token", "create", "--principal", "alice", "--tokens", folder + "/tokens"],
                folder: folder)
            let lines = try await Self.run(
                client, in: folder, flags: ["--tokens", folder + "/tokens"],
                String(made.output.dropLast()))
            #expect(lines == Self.shown + ["alice owns mine alice", "left: 0"])
        }
    }

    @Test(.enabled(if: tool("python3") != nil, "no python3"))
    func `A client in Python without a token does all there is in the application's scope`()
        async throws
    { try await Self.runWithoutToken(Self.python) }

    @Test(.enabled(if: tool("node") != nil, "no node"))
    func `A client in JavaScript without a token does all there is in the application's scope`()
        async throws
    { try await Self.runWithoutToken(Self.node) }

    @Test(.enabled(if: tool("python3") != nil, "no python3"))
    func `A client in Python with a token has a scope of its own, and owns what it creates`()
        async throws
    { try await Self.runWithToken(Self.python) }

    @Test(.enabled(if: tool("node") != nil, "no node"))
    func `A client in JavaScript with a token has a scope of its own, and owns what it creates`()
        async throws
    { try await Self.runWithToken(Self.node) }
}
