import Foundation
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

    /// The bytes that the kernel has of each connection to a port, to send or to be acknowledged.
    ///
    /// - Source: proc(5), `/proc/net/tcp`.
    private static func sendQueues(ofPort port: Int) throws -> [Int] {
        let established = "01"
        let table = try #require(FileHandle(forReadingAtPath: "/proc/net/tcp")).readToEnd()
        return String(decoding: table ?? Data(), as: UTF8.self).split(separator: "\n").dropFirst()
            .compactMap { row in
                let columns = row.split(separator: " ")
                guard columns[3] == established,
                    columns[1].split(separator: ":").last.flatMap({ Int($0, radix: 16) }) == port
                else { return nil }
                return columns[4].split(separator: ":").first.flatMap { Int($0, radix: 16) }
            }
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
                        // Without a bound the kernel had 3.8 MB for each of them.
                        let queues = try Self.sendQueues(ofPort: web)
                        #expect(queues.count >= 60)
                        #expect(queues.max()! < 1 << 20)
                    }
                }
            }
        }
    }
}
