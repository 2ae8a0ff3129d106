import EmbeddedBackend
import Foundation
import Objects
import Synchronization
import TestSupport
import Testing

/// "The log is begun anew as soon as no read needs it."
@Suite struct CheckpointTests {
    @Test func `a log is begun anew while writes go on`() async throws {
        try await withTemporaryFolder { folder in
            let path = folder + "/store.sqlite"
            var limits = Limits()
            limits.logBytes = 1 << 18
            try await withBackend(.embedded, path: path, limits: limits) { client in
                let pad = String(repeating: "x", count: 2_000)
                let begin = ContinuousClock.now
                var number = 0
                repeat {
                    let object = #"{"number":\#(number),"pad":"\#(pad)"}"#
                    try await client.value(
                        "object.put",
                        #"{"bucket":"log","id":"object-\#(number)","object":\#(object)}"#)
                    number += 1
                } while try Self.restarts(of: path) < 3
                    && ContinuousClock.now - begin < .seconds(60)
                #expect(try Self.restarts(of: path) >= 3)
            }
        }
    }

    @Test func `a checkpoint is due once after half of logBytes`() async throws {
        try await withTemporaryFolder { folder in
            let store = try SQLiteStore(path: folder + "/store.sqlite", logBytes: 1 << 20)
            let calls = Atomic(0)
            store.checkpointDue.set { calls.add(1, ordering: .relaxed) }
            func write(_ count: Int) throws -> Int {
                let value = [UInt8](repeating: 1, count: 40_000)
                for _ in 0..<count {
                    try store.write { try $0.set("name", to: value) }
                }
                return calls.load(ordering: .relaxed)
            }
            _ = try store.checkpoint()
            #expect(try write(3) == 0)
            #expect(try write(12) == 1)
            #expect(try write(20) == 1)
            _ = try store.checkpoint()
            #expect(try write(3) == 1)
            #expect(try write(12) == 2)
            try store.close()
        }
    }

    @Test func `a log of new pages is begun anew earlier than one of pages written again`()
        async throws
    {
        try await withTemporaryFolder { folder in
            let store = try SQLiteStore(path: folder + "/store.sqlite", logBytes: 1 << 20)
            func write(_ count: Int, _ name: (Int) -> String) throws {
                for number in 0..<count {
                    try store.set(
                        name(number), to: [UInt8](repeating: UInt8(number & 255), count: 40_000))
                }
            }
            // A dozen pages for each: above a quarter of a mebibyte, and below one.
            try write(15) { "new \($0)" }
            #expect(try store.checkpoint())
            try store.finishCheckpoint()
            try write(15) { _ in "new 7" }
            #expect(try !store.checkpoint())
            try write(30) { _ in "new 7" }
            #expect(try store.checkpoint())
            try store.close()
        }
    }

    /// How often the log has been begun anew: its header's fourth number, which SQLite counts up.
    ///
    /// - Reference: SQLite's "Database File Format", section 4.1.
    private static func restarts(of path: String) throws -> Int {
        let file = try FileHandle(forReadingFrom: URL(fileURLWithPath: path + "-wal"))
        defer { try? file.close() }
        let header = try file.read(upToCount: 16) ?? Data()
        return header.count < 16 ? 0 : header.suffix(4).reduce(0) { $0 << 8 | Int($1) }
    }
}
