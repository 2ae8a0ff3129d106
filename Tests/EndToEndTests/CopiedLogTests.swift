import Foundation
import GRDB
import GeoBucketClient
import TestSupport
import Testing

/// The log of a store that Litestream copies: `scripts/litestream.py` tries both together.
@Suite(.timeLimit(.minutes(5))) struct CopiedLogTests {
    private static func size(of path: String) -> Int {
        (try? FileManager.default.attributesOfItem(atPath: path)[.size] as? Int) ?? 0
    }

    /// What SQLite counts up when it begins a log anew.
    private static func beginnings(_ log: String) -> [UInt8] {
        Array((FileManager.default.contents(atPath: log) ?? Data()).prefix(16).suffix(4))
    }

    private static func put(_ number: Int, _ connection: LineConnection) async throws {
        let pad = String(repeating: "x", count: 3_000)
        _ = try await connection.call(
            "object.put",
            Array(#"{"bucket":"b1","id":"o\#(number)","object":{"pad":"\#(pad)"}}"#.utf8))
    }

    /// The size of the log when it has just been begun anew, after it was half a mebibyte long.
    private static func sizeOfNewLog(
        of store: String, in folder: String, seen isSeen: Bool
    ) async throws -> Int {
        let log = store + "-wal"
        return try await Program.serve(store: store, folder: folder) { _, port in
            if isSeen {
                let queue = try DatabaseQueue(path: store)
                try await queue.writeWithoutTransaction {
                    try $0.execute(sql: "CREATE TABLE IF NOT EXISTS _litestream_seq (id, seq)")
                }
                try queue.close()
            }
            return try await LineConnection.with(host: "127.0.0.1", port: port) { connection in
                // A checkpoint may begin it anew before it is as long.
                var number = 0
                while number < 200 || Self.size(of: log) <= 1 << 19 {
                    try await Self.put(number, connection)
                    number += 1
                }
                let before = Self.beginnings(log)
                // A write begins the log anew once a checkpoint has taken all of it.
                while Self.beginnings(log) == before {
                    try await Task.sleep(for: .milliseconds(1_500))
                    try await Self.put(0, connection)
                }
                return Self.size(of: log)
            }
        }
    }

    @Test
    func `A log that is begun anew has no remains where Litestream might take them for known`()
        async throws
    {
        try await withTemporaryFolder { folder in
            let (seen, other) = (folder + "/seen.sqlite", folder + "/other.sqlite")
            let first = try await Self.sizeOfNewLog(of: seen, in: folder, seen: true)
            #expect(first < 1 << 18)
            let whole = try await Self.sizeOfNewLog(of: other, in: folder, seen: false)
            #expect(whole > 1 << 19)
            // The store remembers it.
            let again = try await Self.sizeOfNewLog(of: seen, in: folder, seen: false)
            #expect(again < 1 << 18)
        }
    }
}
