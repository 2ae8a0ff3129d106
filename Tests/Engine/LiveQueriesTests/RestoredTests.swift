import BackendContract
import EmbeddedBackend
import JSONText
import Objects
import TestSupport
import Testing

@testable import LiveQueries

/// A node that is rebuilt goes on with another history, under the feet of its watches.
@Suite struct RestoredTests {
    /// Lets the matcher of one world see the states of another, as after a rebuild. Nobody writes to
    /// the first world afterwards.
    private static func rebuild(_ world: WatchWorld, as other: WatchWorld) throws {
        world.backend.endObservation()
        other.backend.observe(world.hub.matcher.queue)
        // An answered write is in the state that follows.
        try other.put("last", Meridian.object(1_000_000))
    }

    private static func withWorlds(
        _ body: @Sendable (_ former: WatchWorld, _ later: WatchWorld) throws -> Void
    ) async throws {
        try await WatchWorld.with { former in
            let later = try WatchWorld(.embedded, former.path + ".later", seed: 2)
            defer { try? later.close() }
            try body(former, later)
        }
    }

    private static let circle =
        #""bucketQuery":{"clause":\#(Meridian.circle(Meridian.origin, 100))}"#

    @Test func `every kind of watch begins again with what is there now, and goes on`()
        async throws
    {
        try await Self.withWorlds { former, later in
            // The later store is far behind.
            for _ in 0..<40 { try former.put("f0", Meridian.object(0)) }
            for number in 0..<4 {
                try former.put("f\(number)", Meridian.object(Double(number)))
                try later.put("l\(number)", Meridian.object(Double(number * 20)))
            }
            try former.put("center", Meridian.object(0), in: BucketName(trusted: "drivers"))
            try later.put("center", Meridian.object(60), in: BucketName(trusted: "drivers"))
            try later.put("between", Meridian.object(150))
            let client = WatchClient(former.hub)
            let moving = Meridian.circle(Meridian.follower(of: "center", in: "drivers"), 25)
            let params = [
                "plain": "{\(Self.circle)}",
                "hysteresis": #"{\#(Self.circle),"leaveRadius":200}"#,
                "moving": #"{"bucketQuery":{"clause":\#(moving)}}"#,
                "ranking":
                    #"{\#(Self.circle.dropLast()),"orderBy":"_id"},"bestEffortLimit":2,"intervalMilliseconds":0}"#,
                "pairs":
                    #"{\#(Self.circle),"pairs":{"bucket":"couriers","field":"location","radius":25}}"#,
            ]
            var names: [String: String] = [:]
            for (kind, params) in params {
                names[kind] = try client.start(former.name, params).name
                _ = try client.settle(names[kind]!)
            }
            try Self.rebuild(former, as: later)
            func expect(_ expected: [String: [String]], resyncs: [String]) throws {
                for (kind, keys) in expected {
                    _ = try client.settle(names[kind]!)
                    let state = client.states[names[kind]!]!
                    #expect(state.objects.keys.sorted() == keys, "\(kind)")
                    #expect(state.resyncs == resyncs && state.faults == [], "\(kind)")
                    #expect(state.change < 40, "\(kind)")
                }
            }
            try expect(
                [
                    "plain": ["l0", "l1", "l2", "l3"], "hysteresis": ["l0", "l1", "l2", "l3"],
                    "moving": ["l2", "l3"], "ranking": ["l0", "l1"],
                    "pairs": ["l0 l1", "l1 l2", "l2 l3"],
                ], resyncs: ["restored"])
            try later.delete("l1")
            try later.put("l3", Meridian.object(150))
            try later.put("center", Meridian.object(20), in: BucketName(trusted: "drivers"))
            try expect(
                [
                    "plain": ["l0", "l2"], "hysteresis": ["l0", "l2", "l3"],
                    "moving": ["l0", "l2"], "ranking": ["l0", "l2"], "pairs": [],
                ], resyncs: ["restored"])
        }
    }

    @Test func `a token of before is not honoured, and one of afterwards is`() async throws {
        try await Self.withWorlds { former, later in
            try former.put("f1", Meridian.object(0))
            try later.put("l1", Meridian.object(0))
            let client = WatchClient(former.hub)
            let watch = try client.start(former.name, "{\(Self.circle)}").name
            _ = try client.settle(watch)
            let before = try #require(client.states[watch]!.resume)
            try Self.rebuild(former, as: later)
            _ = try client.settle(watch)
            let after = try #require(client.states[watch]!.resume)
            for (token, isHonoured) in [(before, false), (after, true)] {
                let start = try client.start(
                    former.name, #"{\#(Self.circle),"resume":"\#(token)"}"#,
                    after: client.states[watch])
                #expect(start.resumed == isHonoured)
                _ = try client.settle(start.name)
                #expect(client.states[start.name]!.objects.keys.sorted() == ["l1"])
            }
        }
    }

    /// As a node does that loads a bucket which it did not hold.
    @Test func `a token from before its bucket was copied begins with a snapshot`() async throws {
        try await WatchWorld.with { world in
            let other = BucketName(trusted: "others")
            var starts: [BucketName: WatchedState] = [:]
            let client = WatchClient(world.hub)
            for name in [world.name, other] {
                for id in ["o1", "o2"] { try world.put(id, Meridian.object(0), in: name) }
                let watch = try client.start(name, "{\(Self.circle)}").name
                _ = try client.settle(watch)
                starts[name] = client.states[watch]!
                try world.delete("o1", in: name)
            }
            let backend = try #require(world.backend as? SQLiteBackend)
            try backend.noteForgottenDeletions(in: world.name, upTo: 100)
            for (name, isHonoured) in [(world.name, false), (other, true)] {
                let former = try #require(starts[name])
                let token = try #require(former.resume)
                let start = try client.start(
                    name, #"{\#(Self.circle),"resume":"\#(token)"}"#, after: former)
                #expect(start.resumed == isHonoured)
                _ = try client.settle(start.name)
                #expect(client.states[start.name]!.objects.keys.sorted() == ["o2"])
            }
        }
    }

    @Test func `couples that were found before are refused afterwards`() async throws {
        try await Self.withWorlds { former, later in
            try former.put("f1", Meridian.object(0))
            let client = WatchClient(former.hub)
            _ = try client.start(former.name, "{}")
            let request = try WatchClient.request(
                former.name,
                #"{\#(Self.circle),"pairs":{"bucket":"couriers","field":"location","radius":9}}"#,
                Limits())
            let (matcher, topic) = (former.hub.matcher, WatchTopic(request, of: 100))
            let search = try matcher.search(for: topic, until: nil)
            try Self.rebuild(former, as: later)
            let failure = #expect(throws: ServiceFailure.self) {
                try matcher.thread.sync { () throws(ServiceFailure) in
                    _ = try matcher.subscribe(
                        client.session, 100, to: topic, at: matcher.present(), search)
                }
            }
            #expect(failure?.reason == .temporarilyUnavailable)
            // Nothing of the attempt is left.
            #expect(matcher.thread.sync { matcher.groups.count } == 1)
        }
    }
}
