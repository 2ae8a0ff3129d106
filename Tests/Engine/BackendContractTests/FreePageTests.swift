import BackendContract
import EmbeddedBackend
import Foundation
import GRDB
import InMemoryEngine
import Objects
import TestSupport
import Testing

/// Pages of the store's file that hold nothing go back to the file system.
@Suite(.timeLimit(.minutes(10))) struct FreePageTests {
    /// Fills a store with some megabytes, and deletes most of it.
    private static func fillAndEmpty(_ client: DirectClient) async throws {
        let text = String(repeating: "x", count: 20_000)
        for bucket in ["kept", "gone"] {
            let count = bucket == "kept" ? 20 : 400
            for number in 0..<count {
                let params =
                    #"{"bucket":"\#(bucket)","id":"o\#(number)","object":{"s":"\#(text)"}}"#
                try await client.value("object.put", params)
            }
        }
        try await client.value("bucket.delete", #"{"bucket":"gone"}"#)
        client.backend.settle()
    }

    private static func number(_ pragma: String, _ path: String) throws -> Int {
        let queue = try DatabaseQueue(path: path)
        defer { try? queue.close() }
        return try queue.read { try Int.fetchOne($0, sql: "PRAGMA \(pragma)") ?? -1 }
    }

    private static func size(_ path: String) -> Int {
        let attributes = try? FileManager.default.attributesOfItem(atPath: path)
        return (attributes?[.size] as? Int) ?? 0
    }

    @Test func `A compaction gives all of them back while the store is open`() async throws {
        try await withTemporaryFolder { folder in
            let path = folder + "/store.sqlite"
            try await withBackend(.embedded, path: path) { client in
                try await Self.fillAndEmpty(client)
                let first = try client.backend.compact(for: .zero, until: nil)
                #expect(first.freePages > 1_000, "\(first)")
                var state = first
                while state.freePages > 0 {
                    state = try client.backend.compact(for: .milliseconds(50), until: nil)
                }
                #expect(Self.size(path) < 1 << 20)
                #expect(client.backend.statistics().freePages == 0)
                let report = try client.backend.check(until: nil)
                #expect(report.problems == [] && report.objects == 20)
            }
            #expect(try Self.number("auto_vacuum", path) == 2)
        }
    }

    @Test func `Housekeeping gives back what is too much, and keeps some for the next writes`()
        async throws
    {
        try await withTemporaryFolder { folder in
            var tuning = Engine.Tuning()
            (tuning.freePages, tuning.housekeeping) = (200, .milliseconds(20))
            try await withBackend(.embedded, path: folder + "/store.sqlite", tuning: tuning) {
                client in
                try await Self.fillAndEmpty(client)
                while client.backend.statistics().freePages > 100
                    || client.backend.statistics().freePages == 0
                {
                    try await Task.sleep(for: .milliseconds(10))
                }
                #expect(client.backend.statistics().freePages > 0)
                #expect(try client.backend.check(until: nil).problems == [])
            }
        }
    }

    @Test func `Few free pages stay, for writes to use`() async throws {
        try await withTemporaryFolder { folder in
            var tuning = Engine.Tuning()
            tuning.housekeeping = .milliseconds(10)
            try await withBackend(.embedded, path: folder + "/store.sqlite", tuning: tuning) {
                client in
                try await Self.fillAndEmpty(client)
                while client.backend.statistics().freePages == 0 {
                    try await Task.sleep(for: .milliseconds(10))
                }
                // As soon as some twenty ticks change nothing any more.
                var (before, now) = (0, client.backend.statistics().freePages)
                while now != before {
                    before = now
                    try await Task.sleep(for: .milliseconds(200))
                    now = client.backend.statistics().freePages
                }
                #expect(now > 1_000)
            }
        }
    }

    @Test(arguments: [false, true])
    func `A copy has none, whoever has made the store`(isOld: Bool) async throws {
        try await withTemporaryFolder { folder in
            let (path, copy) = (folder + "/store.sqlite", folder + "/copy.sqlite")
            if isOld { try Self.makeOld(path) }
            try await withBackend(.embedded, path: path) { try await Self.fillAndEmpty($0) }
            #expect(try Self.number("auto_vacuum", path) == (isOld ? 0 : 2))
            #expect(try Self.number("freelist_count", path) > 1_000)
            try FrozenStore(path: path).copy(to: copy) { _ in }
            #expect(try Self.number("freelist_count", copy) == 0)
            #expect(try Self.number("auto_vacuum", copy) == 2)
            #expect(Self.size(copy) < 1 << 20)
            let report = try StoreCheck.run(path: copy)
            #expect(report.problems == [] && report.objects == 20)
        }
    }

    /// A file as earlier versions made it: its pages cannot be given back one by one.
    private static func makeOld(_ path: String) throws {
        let queue = try DatabaseQueue(path: path)
        try queue.writeWithoutTransaction { db in
            try db.execute(sql: "PRAGMA auto_vacuum = NONE; CREATE TABLE t (x); DROP TABLE t")
        }
        try queue.close()
    }

    @Test func `A store of an earlier version is written anew once, and gives pages back then`()
        async throws
    {
        try await withTemporaryFolder { folder in
            let path = folder + "/store.sqlite"
            try Self.makeOld(path)
            try await withBackend(.embedded, path: path) { client in
                try await Self.fillAndEmpty(client)
                let state = try client.backend.compact(for: .zero, until: nil)
                #expect(state.freePages == 0, "\(state)")
                // Writes go on, and the file is as any other.
                try await Self.fillAndEmpty(client)
                #expect(try client.backend.compact(for: .zero, until: nil).freePages > 1_000)
                #expect(try client.backend.check(until: nil).problems == [])
            }
            #expect(try Self.number("auto_vacuum", path) == 2)
        }
    }
}
