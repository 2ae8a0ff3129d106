import GeoBucketClient
import JSONText
import TestSupport
import Testing

/// What the program holds for clients that ask and read nothing.
@Suite(.timeLimit(.minutes(5))) struct UnreadAnswerTests {
    private static func residentBytes(_ line: LineConnection) async throws -> Int {
        let stats = try JSONValue(parsing: try await line.call("server.stats", Array("{}".utf8)))
        return try #require(stats["memory"]?["residentBytes"]?.int)
    }

    @Test func `Clients of the web port that read nothing take little memory`() async throws {
        let file = "GET /map/countries.json HTTP/1.1\r\nHost: localhost\r\n\r\n"
        try await withTemporaryFolder { folder in
            try await Program.serve(
                store: folder + "/s.sqlite", folder: folder, flags: ["--web", "127.0.0.1:0"]
            ) { process, port in
                let start = "geobucket web on 127.0.0.1:"
                let line = try #require(
                    process.standardOutput.split(separator: "\n").first { $0.hasPrefix(start) })
                let web = try #require(Int(line.dropFirst(start.count)))
                try await LineConnection.with(host: "127.0.0.1", port: port) { connection in
                    let before = try await Self.residentBytes(connection)
                    try await RawConnection.during(port: web, count: 60) { clients in
                        for client in clients {
                            try client.send(String(repeating: file, count: 500))
                        }
                        // Without a bound it was 370 MiB by then.
                        var most = before
                        for _ in 0..<3_000 {
                            most = max(most, try await Self.residentBytes(connection))
                        }
                        let mebibytes = (most - before) >> 20
                        #expect(mebibytes < 100)
                    }
                }
            }
        }
    }
}
