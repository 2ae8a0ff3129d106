import Foundation
import GeoBucketClient
import TestSupport
import Testing

/// The log of a service: an entry a line, whatever clients call their fields.
@Suite struct LogTests {
    /// Names of fields that look like the end of an entry and another one, or move the cursor.
    private static let names = [
        "a\n2026-01-01T00:00:00.000Z error geobucket: forged", "b\r\u{1B}[2K\u{1B}[31mforged",
        "c\u{85}\u{2028}\u{9B}31mforged", "d\" level=\"error\" forged=\"",
        "e\u{202E}degrof", "f\u{7F}\u{0}",
    ]

    @Test(.timeLimit(.minutes(5)), arguments: ["text", "json"])
    func `Names of fields neither end an entry of the log nor hide it`(_ format: String)
        async throws
    {
        try await withTemporaryFolder { folder in
            try await Program.serve(
                store: folder + "/store.sqlite", folder: folder,
                flags: ["--log-format", format, "--slow-query-milliseconds", "1"]
            ) { process, port in
                try await LineConnection.with(host: "127.0.0.1", port: port) { line in
                    let clauses = try (0..<900).map { number in
                        let name = Self.names[number % Self.names.count] + "\(number)"
                        let text = String(
                            decoding: try JSONEncoder().encode(name), as: UTF8.self)
                        return #"{"type":"contains","field":\#(text),"value":"x"}"#
                    }
                    let objects = Array(repeating: "{}", count: 5_000).joined(separator: ",")
                    _ = try await line.call(
                        "object.putMany", Array(#"{"bucket":"shops","objects":[\#(objects)]}"#.utf8)
                    )
                    let clause = #"{"type":"or","clauses":[\#(clauses.joined(separator: ","))]}"#
                    _ = try await line.call(
                        "bucket.count",
                        Array(#"{"bucket":"shops","bucketQuery":{"clause":\#(clause)}}"#.utf8))
                }
                try await process.waitForError("slow query")
                process.signal(SIGTERM)
                #expect(await process.end() == 0)
                try Self.check(process.standardError, format)
            }
        }
    }

    private static func check(_ log: String, _ format: String) throws {
        let entry = format == "json" ? "{\"time\":\"2" : "2"
        for line in log.split(separator: "\n", omittingEmptySubsequences: false).dropLast() {
            #expect(line.hasPrefix(entry) && !line.hasPrefix("2026-01-01"), "\(line)")
            #expect(!line.unicodeScalars.contains { $0.value < 0x20 || $0.value == 0x7F })
            for scalar in ["\u{85}", "\u{2028}", "\u{9B}", "\u{202E}"] as [Unicode.Scalar] {
                #expect(!line.unicodeScalars.contains(scalar))
            }
            // The quotes in a name do not end its member.
            #expect(!line.contains(" level=\"error\""))
            if format == "json" {
                let entry = try JSONSerialization.jsonObject(with: Data(line.utf8))
                let members = try #require(entry as? [String: Any])
                if members["message"] as? String == "slow query" {
                    #expect(members["milliseconds"] is Int)
                }
                if members["message"] as? String == "store open" {
                    #expect((members["store"] as? String)?.hasSuffix("/store.sqlite") == true)
                    #expect(members["objects"] as? Int == 0 && members["seconds"] is Double)
                }
            }
        }
        #expect(log.contains("slow query") && log.contains(#"\n2026-01-01"#))
    }
}
