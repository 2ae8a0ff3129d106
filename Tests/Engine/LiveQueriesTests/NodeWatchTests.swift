import Foundation
import Objects
import Runtime
import TestSupport
import Testing

@testable import PostgresBackend

/// What one node of a cluster has told goes on at another, and not after PostgreSQL has lost it.
@Suite(.needsPostgreSQL) struct NodeWatchTests {
    /// Runs `body` with the path of a cluster of its own, on a thread that it may block.
    private static func withPath(_ body: @Sendable (String) throws -> Void) async throws {
        try await withTemporaryFolder { folder in
            try await onBlockingThreads { try body(folder + "/nodes") }
        }
    }

    @Test func `an object that came and went between two looks of a node leaves its watches`()
        async throws
    {
        try await Self.withPath { path in
            let a = try WatchedNode("a", path)
            defer { try? a.close() }
            try WatchedNode("b", path).close()
            for id in ["kept", "gone"] { try a.put(id) }
            let told = try a.watch().state
            #expect(told.objects.keys.sorted() == ["gone", "kept"])
            try a.delete("gone")
            let b = try WatchedNode("b", path)
            defer { try? b.close() }
            let (resumed, state) = try b.watch(after: told)
            #expect(resumed == true && state.faults == [])
            #expect(state.objects.keys.sorted() == ["kept"])
        }
    }

    @Test(arguments: [false, true])
    func `objects that came and went in a large deletion leave a node's watches`(
        areRowsThere: Bool
    ) async throws {
        try await Self.withPath { path in
            let a = try WatchedNode("a", path)
            defer { try? a.close() }
            for number in 0..<10 { try a.put("old\(number)") }
            try WatchedNode("b", path).close()
            for number in 0..<10 { try a.put("new\(number)") }
            let told = try a.watch().state
            #expect(told.objects.count == 20)
            let tables = try SharedTables(path)
            if areRowsThere { try tables.keepListedRows() }
            try a.deleteAll()
            if !areRowsThere { a.backend.settle() }
            #expect(try tables.count("object") == (areRowsThere ? 20 : 0))
            let b = try WatchedNode("b", path)
            defer { try? b.close() }
            let (resumed, state) = try b.watch(after: told)
            #expect(resumed == true && state.faults == [] && state.objects.isEmpty)
        }
    }

    @Test func `a sync sees what another node has answered, also with local reads`() async throws {
        try await Self.withPath { path in
            let (a, b) = (
                try WatchedNode("a", path, reads: .local), try WatchedNode("b", path, reads: .local)
            )
            defer { for node in [a, b] { try? node.close() } }
            let client = WatchClient(b.hub)
            let watch = try client.start(BucketName(trusted: "couriers"), "{}").name
            for number in 0..<100 {
                try a.put("c\(number)")
                _ = try client.settle(watch)
                #expect(client.states[watch]!.objects["c\(number)"] != nil, "\(number)")
            }
        }
    }

    enum Left: CaseIterable {
        /// The caches of the nodes tell of the loss.
        case caches
        /// `geobucket cluster new-history` tells.
        case command
        /// Resume tokens tell for themselves.
        case tokens
    }

    @Test(arguments: Left.allCases, [false, true])
    func `a token of a history that PostgreSQL has lost is not honoured`(
        left: Left, isCaughtUp: Bool
    ) async throws {
        try await Self.withPath { path in
            let a = try WatchedNode("a", path)
            let tables = try SharedTables(path)
            try a.put("kept")
            let kept = try a.watch().state
            try tables.save()
            for number in 0..<10 { try a.put("lost\(number)") }
            let told = try a.watch().state
            #expect(told.objects.count == 11)
            try a.close()
            let epoch = try tables.epoch()
            try tables.restore()
            if left != .caches {
                for suffix in ["", "-wal", "-shm"] {
                    try? FileManager.default.removeItem(atPath: "\(path).a\(suffix)")
                }
            }
            if left == .command {
                #expect(try ClusterTables.beginEpoch(at: NodePair.address(of: path)) == 1)
            }
            let node = try WatchedNode("a", path)
            defer { try? node.close() }
            #expect((try tables.epoch() == epoch) == (left == .tokens))
            if isCaughtUp { for number in 0..<20 { try node.put("new\(number)") } }
            let begin = ContinuousClock.now
            let (resumed, state) = try node.watch(after: told)
            #expect(begin.duration(to: .now) < .seconds(5))
            #expect(resumed == false)
            #expect(state.objects.count == (isCaughtUp ? 21 : 1) && state.objects["kept"] != nil)
            if left == .tokens {
                // What is from before the backup still holds.
                let (resumed, before) = try node.watch(after: kept)
                #expect(resumed == true && before.objects == state.objects)
            }
        }
    }

    @Test func `a token holds when PostgreSQL does not remember its batch any more`() async throws {
        try await Self.withPath { path in
            let node = try WatchedNode("a", path)
            defer { try? node.close() }
            for id in ["o1", "o2"] { try node.put(id) }
            let told = try node.watch().state
            try node.delete("o1")
            try SharedTables(path).run(["UPDATE batch SET at = at - interval '2 hours'"])
            let tables = try ClusterTables(
                try NodePair.address(of: path), answerTime: hangTime, clock: ServiceClock())
            _ = try tables.forget(tombstonesBefore: 0, requestsBefore: 0, atMost: 1_000)
            let (resumed, state) = try node.watch(after: told)
            #expect(resumed == true && state.objects.keys.sorted() == ["o2"])
        }
    }
}
