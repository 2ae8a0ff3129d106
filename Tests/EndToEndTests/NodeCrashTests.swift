import Foundation
import GeoBucketClient
import Glibc
import JSONText
import TestSupport
import Testing

/// Two nodes as processes, of which the one that deletes many objects is killed.
@Suite(.timeLimit(.minutes(10)), .needsPostgreSQL)
struct NodeCrashTests {
    private static let objects = 3_000
    /// When the node is killed: so long after it was asked, or when it has answered.
    private static let moments: [Duration?] = [
        .zero, .milliseconds(2), .milliseconds(5), .milliseconds(10), .milliseconds(20),
        .milliseconds(40), .milliseconds(80), nil, nil,
    ]

    @Test func `a large deletion whose node is killed is whole or not there, at every node`()
        async throws
    {
        let schema = "crash_" + UUID().uuidString.lowercased().replacing("-", with: "_")
        let url = PostgresServer.shared!.url
        try await withTemporaryFolder { folder in
            func flags(_ node: String) -> [String] {
                ["--cache", "\(folder)/\(node).sqlite", "--postgres-schema", schema]
            }
            try await Program.serve(store: url, folder: folder, flags: flags("b")) { _, b in
                for (round, moment) in Self.moments.enumerated() {
                    let context = "round \(round)"
                    let isAnswered = try await Program.serve(
                        store: url, folder: folder, flags: flags("a")
                    ) { process, a in
                        try await Self.delete(at: a, killing: process, at: moment)
                    }
                    try await LineConnection.with(host: "127.0.0.1", port: b) { connection in
                        let left = try await Self.count(connection) ?? -1
                        #expect(left == 0 || !isAnswered && left == Self.objects, "\(context)")
                        // The same ids, of which rows may be there.
                        let put = try await Self.put(0..<10, connection)
                        #expect(
                            put.allSatisfy { left == 0 ? $0 == 1 : $0! > 1 }, "\(context): \(put)")
                        #expect(
                            try await Self.count(connection) == max(left, 10), "\(context)")
                        try await Self.check(connection, context)
                    }
                }
                // The node goes on from what its ends have left, and removes the rest.
                try await Program.serve(store: url, folder: folder, flags: flags("a")) { _, a in
                    for port in [a, b] {
                        try await LineConnection.with(host: "127.0.0.1", port: port) { connection in
                            #expect(try await Self.count(connection) == 10)
                            try await Self.check(connection, "at the end")
                        }
                    }
                }
            }
        }
    }

    private static func call(
        _ connection: LineConnection, _ method: String, _ params: String
    ) async throws -> JSONValue {
        try JSONValue(parsing: try await connection.call(method, Array(params.utf8)))
    }

    private static func count(_ connection: LineConnection) async throws -> Int? {
        try await call(connection, "bucket.count", #"{"bucket":"shops"}"#)["count"]?.int
    }

    /// The versions of some objects after they were put.
    private static func put(
        _ numbers: Range<Int>, _ connection: LineConnection
    ) async throws -> [Int?] {
        let objects = numbers.map { #"{"_id":"o\#($0)","n":\#($0)}"# }.joined(separator: ",")
        let stored = try await call(
            connection, "object.putMany", #"{"bucket":"shops","objects":[\#(objects)]}"#)
        return stored["objects"]?.array?.map { $0["_version"]?.int } ?? []
    }

    private static func check(_ connection: LineConnection, _ context: String) async throws {
        let report = try await call(connection, "store.check", "{}")
        #expect(report["problems"] == .array([]), "\(context)")
    }

    /// Puts all objects, and has them deleted by a node that is killed.
    ///
    /// - Returns: whether the deletion was answered.
    private static func delete(
        at port: Int, killing process: ChildProcess, at moment: Duration?
    ) async throws -> Bool {
        try await LineConnection.with(host: "127.0.0.1", port: port) { connection in
            for first in stride(from: 0, to: objects, by: 1_000) {
                _ = try await put(first..<first + 1_000, connection)
            }
            let deletion = connection.begin(
                "bucket.deleteWhere",
                Array(#"{"bucket":"shops","bucketQuery":{"clause":{"type":"all"}}}"#.utf8))
            guard let moment else {
                _ = try LineConnection.result(of: try await deletion.value())
                process.signal(SIGKILL)
                return true
            }
            try await Task.sleep(for: moment)
            process.signal(SIGKILL)
            do {
                _ = try LineConnection.result(of: try await deletion.value())
                return true
            } catch ClientFailure.disconnected {
                return false
            }
        }
    }
}
