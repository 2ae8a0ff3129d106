import Dispatch
import TestSupport
import Testing

@testable import LiveQueries

/// The owners of watches, who share what makes snapshots and lists.
@Suite(.timeLimit(.minutes(5))) struct OwnerTests {
    @Test func `what takes long for one owner keeps no other waiting`() async throws {
        try await WatchWorld.with { world in
            for number in 0..<4 { try world.put("a\(number)", #"{"n":\#(number)}"#) }
            let client = WatchClient(world.hub, of: "other")
            let ranking =
                #"{"bucketQuery":{"orderBy":"n"},"bestEffortLimit":3,"intervalMilliseconds":0}"#
            let list = try client.start(world.name, ranking).name
            let set = try client.start(world.name, "{}").name
            for watch in [set, list] { _ = try client.settle(watch) }
            let gate = DispatchSemaphore(value: 0)
            for _ in 0..<9 { world.hub.lists.submit(for: "greedy") { gate.wait() } }
            defer { for _ in 0..<9 { gate.signal() } }
            try world.put("a4", #"{"n":-1}"#)
            let number = try client.session.withWatch(set) { watch, _ in watch.number }
            client.session.resync(number, .slow)
            for watch in [set, list] { _ = try client.settle(watch) }
            #expect(client.states[list]!.list.map(\.id) == ["a4", "a0", "a1"])
            #expect(client.states[set]!.resyncs == ["slow"])
            #expect(client.states[set]!.objects.count == 5)
        }
    }
}
