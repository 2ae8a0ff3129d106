import Foundation
import GeoBucketClient
import TestSupport
import Testing
import Wire

/// SIGHUP: the configuration file is read again.
@Suite struct ReloadTests {
    private static func write(_ text: String, to path: String) throws {
        try Data(text.utf8).write(to: URL(filePath: path))
    }

    /// The last line of the log that has some text, as JSON.
    private static func entry(_ log: String, _ text: String) throws -> [String: Any] {
        let line = try #require(log.split(separator: "\n").last { $0.contains(text) })
        let object = try JSONSerialization.jsonObject(with: Data(line.utf8))
        return try #require(object as? [String: Any])
    }

    private static func limit(_ name: String, _ port: Int) async throws -> Int? {
        try await LineConnection.with(host: "127.0.0.1", port: port) { connection in
            let info = try JSONValue(
                parsing: try await connection.call("server.info", Array("{}".utf8)))
            return info["limits"]?[name]?.int
        }
    }

    @Test(.timeLimit(.minutes(5)))
    func `What may change while the service runs takes effect, and the rest is named`() async throws
    {
        try await withTemporaryFolder { folder in
            let config = folder + "/config.json"
            try Self.write(
                #"{"logLevel":"info","failedLogins":20,"lineBytes":100000,"drainSeconds":5}"#,
                to: config)
            try await Program.serve(
                store: folder + "/s.sqlite", folder: folder,
                flags: ["--config", config, "--log-format", "json", "--drain-seconds", "3"]
            ) { process, port in
                #expect(process.standardError.contains("\"configuration\":\"\(config)\""))
                #expect(try await Self.limit("failedLogins", port) == 20)
                // Flags go before the file, so what it says of them changes nothing.
                try Self.write(
                    #"{"logLevel":"warning","failedLogins":30,"lineBytes":200000,"drainSeconds":6,"tokens":"t"}"#,
                    to: config)
                process.signal(SIGHUP)
                try await process.waitForError("configuration read")
                let read = try Self.entry(process.standardError, "configuration read")
                #expect(read["level"] as? String == "warning")
                #expect(read["applied"] as? [String] == ["failedLogins", "logLevel"])
                #expect(read["needRestart"] as? [String] == ["lineBytes", "tokens"])
                #expect(try await Self.limit("failedLogins", port) == 30)
                #expect(try await Self.limit("lineBytes", port) == 100_000)
                // A file that is refused changes nothing, not even what would be right in it.
                for wrong in [
                    "{", #"{"failedLogins":40,"nonsense":1}"#,
                    #"{"failedLogins":40,"logLevel":"loud"}"#,
                    #"{"failedLogins":40,"requestsPerSecond":-1}"#,
                ] {
                    try Self.write(wrong, to: config)
                    let before = process.standardError.count
                    process.signal(SIGHUP)
                    while !process.standardError.dropFirst(before).contains(
                        "the configuration file cannot be used; the settings stay")
                    {
                        try await Task.sleep(for: .milliseconds(10))
                    }
                    #expect(try await Self.limit("failedLogins", port) == 30, "\(wrong)")
                }
                process.signal(SIGTERM)
                #expect(await process.end() == 0)
                // Below the level that the file has set.
                #expect(!process.standardError.contains("\"message\":\"stopped\""))
            }
        }
    }
}
