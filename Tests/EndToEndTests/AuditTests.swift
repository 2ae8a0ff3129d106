import Foundation
import GeoBucketClient
import TestSupport
import Testing

/// `serve --audit-log`: who does what, in the lines of a file.
@Suite struct AuditTests {
    /// The lines as `principal method bucket objects outcome`.
    private static func lines(_ path: String) throws -> [String] {
        try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n").map { line in
            let object = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
            let entry = try #require(object)
            #expect(entry["address"] as? String == "127.0.0.1")
            #expect((entry["time"] as? String)?.hasSuffix("Z") == true)
            return ["principal", "method", "bucket", "objects", "outcome"].map {
                entry[$0].map { "\($0)" } ?? "-"
            }.joined(separator: " ")
        }
    }

    private static func token(_ folder: String, _ arguments: String...) async throws -> String {
        let run = try await Program.run(
            ["token", "create", "--tokens", folder + "/tokens"] + arguments, folder: folder)
        return String(run.output.dropLast())
    }

    private static let calls = [
        ("object.put", #"{"bucket":"shops","id":"o1","object":{}}"#),
        ("object.put", #"{"bucket":"shops","id":"o1","object":{},"ifAbsent":true}"#),
        ("object.putMany", #"{"bucket":"shops","objects":[{"a":1},{"a":2}]}"#),
        ("object.get", #"{"bucket":"shops","id":"o1"}"#),
        ("bucket.query", #"{"bucket":"shops"}"#), ("server.ping", "{}"),
        ("object.put", #"{"bucket":"users/bob/notes","id":"o1","object":{}}"#),
        ("bucket.deleteWhere", #"{"bucket":"shops","bucketQuery":{}}"#), ("server.stats", "{}"),
    ]

    private static let written = [
        "- auth.login - - WRONG_TOKEN", "alice auth.login - - done",
        "alice object.put shops 1 done", "alice object.put shops - OBJECT_ALREADY_EXISTS",
        "alice object.putMany shops 2 done",
        "alice object.put users/bob/notes - OPERATION_NOT_ALLOWED",
        "alice bucket.deleteWhere shops 3 done", "alice server.stats - - OPERATION_NOT_ALLOWED",
    ]

    @Test(.timeLimit(.minutes(5)), arguments: [false, true])
    func `Writes, logins and refusals are noted, reads if that is asked for`(_ withReads: Bool)
        async throws
    {
        try await withTemporaryFolder { folder in
            let token = try await Self.token(folder, "--principal", "alice")
            let path = folder + "/audit.log"
            try await Program.serve(
                store: folder + "/s.sqlite", folder: folder,
                flags: ["--tokens", folder + "/tokens", "--audit-log", path]
                    + (withReads ? ["--audit-reads"] : [])
            ) { process, port in
                try await LineConnection.with(host: "127.0.0.1", port: port) { connection in
                    // What strangers are refused is not noted.
                    _ = try await LoginRules.outcome(connection, "object.get", Self.calls[3].1)
                    let wrong = #"{"token":"gbt_0123456789ab_x"}"#
                    _ = try await LoginRules.outcome(connection, "auth.login", wrong)
                    try await connection.logIn(token: token)
                    for (method, params) in Self.calls {
                        _ = try await LoginRules.outcome(connection, method, params)
                    }
                }
                process.signal(SIGTERM)
                #expect(await process.end() == 0)
            }
            var expected = Self.written
            if withReads {
                expected.insert(
                    contentsOf: [
                        "alice object.get shops 1 done", "alice bucket.query shops 3 done",
                    ],
                    at: 5)
            }
            #expect(try Self.lines(path) == expected)
            let text = try String(contentsOfFile: path, encoding: .utf8)
            #expect(text.contains(#""token":"0123456789ab""#) && !text.contains("gbt_"))
        }
    }

    @Test(.timeLimit(.minutes(5)))
    func `On SIGHUP the file is opened anew, and a file that cannot be opened ends the start`()
        async throws
    {
        try await withTemporaryFolder { folder in
            let path = folder + "/audit.log"
            try await Program.serve(
                store: folder + "/s.sqlite", folder: folder, flags: ["--audit-log", path]
            ) { process, port in
                try await LineConnection.with(host: "127.0.0.1", port: port) { connection in
                    func put() async throws {
                        let put = Self.calls[0]
                        _ = try await LoginRules.outcome(connection, put.0, put.1)
                    }
                    try await put()
                    try FileManager.default.moveItem(atPath: path, toPath: path + ".old")
                    process.signal(SIGHUP)
                    try await process.waitForError("audit log opened")
                    try await put()
                }
                process.signal(SIGTERM)
                #expect(await process.end() == 0)
            }
            #expect(try Self.lines(path + ".old") == ["- object.put shops 1 done"])
            #expect(try Self.lines(path) == ["- object.put shops 1 done"])
            let run = try await Program.run(
                [
                    "serve", "--listen", "127.0.0.1:0", "--store", folder + "/t.sqlite",
                    "--audit-log", folder,
                ], folder: folder)
            #expect(run.status == 1)
            #expect(run.errors.contains("the audit log \(folder) cannot be opened"))
            let reads = try await Program.run(["serve", "--audit-reads"], folder: folder)
            #expect(reads.status == 2 && reads.errors.contains("needs --audit-log"))
        }
    }
}
