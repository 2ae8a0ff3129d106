import Foundation
import GRDB
import JSONText
import TestSupport
import Testing

/// Another process' lock on the store: it costs everybody who writes one wait together, not one each.
@Suite(.timeLimit(.minutes(5)), .serialized) struct LockTests {
    /// Runs `body` while the store is locked against writers.
    private static func locking<Result>(
        _ store: String, _ body: () async throws -> Result
    ) async throws -> Result {
        var configuration = Configuration()
        configuration.allowsUnsafeTransactions = true
        let other = try DatabaseQueue(path: store, configuration: configuration)
        try await other.writeWithoutTransaction { try $0.execute(sql: "BEGIN IMMEDIATE") }
        let result = try await body()
        try await other.writeWithoutTransaction { try $0.execute(sql: "ROLLBACK") }
        try other.close()
        return result
    }

    private static func line(_ id: Int, _ method: String, _ params: String) -> String {
        #"{"jsonrpc":"2.0","id":\#(id),"method":"\#(method)","params":{"bucket":"b1",\#(params)}}"#
            + "\n"
    }

    /// Writes of which every other one begins a transaction of its own, so none joins another. If each waited
    /// its three seconds alone, they would take longer than any of these tests may.
    private static let writes = (0..<120).map { number in
        number.isMultiple(of: 2)
            ? line(number, "bucket.deleteWhere", #""bucketQuery":{}"#)
            : line(number, "object.put", #""id":"o\#(number)","object":{}"#)
    }

    @Test func `Writes that wait behind a lock are refused together, and succeed when it is gone`()
        async throws
    {
        try await withTemporaryFolder { folder in
            let store = folder + "/store.sqlite"
            try await Program.serve(store: store, folder: folder) { process, port in
                try await RawConnection.during(port: port) { raw in
                    try raw.send(Self.line(0, "object.put", #""id":"o0","object":{}"#))
                    _ = try raw.line()
                    try await Self.locking(store) {
                        try raw.send(Self.writes.joined())
                        for _ in Self.writes {
                            let line = try raw.line()
                            #expect(line?.contains("TEMPORARY_UNAVAILABLE_ERROR") == true)
                        }
                    }
                    try raw.send(Self.writes.joined())
                    for _ in Self.writes {
                        let line = try raw.line()
                        #expect(line?.contains("result") == true)
                    }
                }
                let told = process.standardError.split(separator: "\n")
                #expect(told.filter { $0.contains("writes fail") }.count == 1)
                #expect(told.filter { $0.contains("writes succeed again") }.count == 1)
            }
        }
    }

    @Test func `A stop does not wait for a lock longer than for its answers`() async throws {
        try await withTemporaryFolder { folder in
            let store = folder + "/store.sqlite"
            try await Program.serve(store: store, folder: folder) { process, port in
                try await RawConnection.during(port: port) { raw in
                    try raw.send(Self.line(0, "object.put", #""id":"o0","object":{}"#))
                    _ = try raw.line()
                    try await Self.locking(store) {
                        try raw.send(Self.writes.joined())
                        // The first has waited, so all have been taken in.
                        _ = try raw.line()
                        try raw.send(Self.writes.joined())
                        process.signal(SIGTERM)
                        #expect(await process.end() == 0)
                    }
                }
            }
        }
    }
}
