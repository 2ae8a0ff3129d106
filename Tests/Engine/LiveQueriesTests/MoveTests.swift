import Foundation
import JSONText
import LiveQueries
import Objects
import TestSupport
import Testing

/// Watches that are moved to other queries, and what they follow.
@Suite struct MoveTests {
    @Test func `a ranking that is moved to the query of another watch shows its list`() async throws
    {
        try await WatchWorld.with { world in
            for number in 0..<5 { try world.put("o\(number)", #"{"n":\#(number)}"#) }
            func query(_ descending: Bool) -> String {
                #"{"bucketQuery":{"clause":{"type":"all"},"orderBy":"n","descending":\#(descending)},"#
                    + #""bestEffortLimit":3,"intervalMilliseconds":0}"#
            }
            let other = WatchClient(world.hub)
            _ = try other.settle(try other.start(world.name, query(true)).name)
            let client = WatchClient(world.hub)
            let watch = try client.start(world.name, query(false)).name
            _ = try client.settle(watch)
            #expect(client.states[watch]!.list.map(\.id) == ["o0", "o1", "o2"])
            _ = try client.move(
                watch,
                #"{"bucketQuery":{"clause":{"type":"all"},"orderBy":"n","descending":true},"bestEffortLimit":3}"#
            )
            _ = try client.settle(watch)
            let state = client.states[watch]!
            #expect(state.list.map(\.id) == ["o4", "o3", "o2"])
            #expect(state.faults == [] && state.reasons == ["query": 2])
        }
    }

    @Test func `a ranking says nothing of a change that it does not show`() async throws {
        try await WatchWorld.with { world in
            for number in 0..<3 { try world.put("o\(number)", #"{"n":\#(number),"m":0}"#) }
            let client = WatchClient(world.hub)
            let watch = try client.start(
                world.name,
                #"{"bucketQuery":{"clause":{"type":"all"},"orderBy":"n"},"fields":["n"],"#
                    + #""bestEffortLimit":2,"intervalMilliseconds":0}"#
            ).name
            _ = try client.settle(watch)
            let before = client.states[watch]!.notifications
            for number in 1...3 {
                try world.put("o0", #"{"n":0,"m":\#(number)}"#)
                _ = try client.settle(watch)
            }
            #expect(client.states[watch]!.notifications == before)
            try world.put("o1", #"{"n":-1,"m":0}"#)
            _ = try client.settle(watch)
            #expect(client.states[watch]!.list.map(\.id) == ["o1", "o0"])
            #expect(client.states[watch]!.faults == [])
        }
    }

    @Test func `a centre stays at the first place of its object when others are deleted`()
        async throws
    {
        try await WatchWorld.with { world in
            let cars = BucketName(trusted: "cars")
            try world.put("near", Meridian.object(0))
            try world.put("far", Meridian.object(5_000))
            try world.put("other", Meridian.object(100), in: cars)
            let places = "[\(Meridian.point(0)),\(Meridian.point(5_000))]"
            try world.put("c1", #"{"location":\#(places)}"#, in: cars)
            let center = Meridian.follower(of: "c1", in: "cars")
            for _ in 0..<2 {
                let client = WatchClient(world.hub)
                let watch = try client.start(
                    world.name, #"{"bucketQuery":{"clause":\#(Meridian.circle(center, 100))}}"#
                ).name
                _ = try client.settle(watch)
                #expect(client.states[watch]!.objects.keys.sorted() == ["near"])
                try world.delete("other", in: cars)
            }
        }
    }

    /// A write may become visible in the middle of a move. A watch with a radius of leaving has what
    /// is within its radius and nothing beyond the other, whatever it had before.
    @Test func `a watch with a radius of leaving misses nothing when it moves beside writes`()
        async throws
    {
        try await WatchWorld.with { world in
            let ids = (0..<40).map { "o\($0)" }
            func query(_ meters: Int) -> String {
                #"{"bucketQuery":{"clause":\#(Meridian.circle(Meridian.point(Double(meters)), 400))}"#
            }
            for id in ids { try world.put(id, Meridian.object(0)) }
            let client = WatchClient(world.hub)
            let watch = try client.start(world.name, query(0) + #","leaveRadius":600}"#).name
            _ = try client.settle(watch)
            var random = SplitMix64(seed: 20_261_127)
            var last: [String: Double] = [:]
            for step in 0..<60 {
                let places = ids.map { ($0, Double(random.below(3_000))) }
                last = Dictionary(uniqueKeysWithValues: places)
                for (id, meters) in places.dropLast() {
                    world.backend.submit(
                        .put(
                            bucket: world.name,
                            object: try world.object(id, Meridian.object(meters)),
                            condition: .none)
                    ) { _ in }
                }
                let center = step % 2 * 1_500
                _ = try client.move(watch, query(center) + "}")
                // The answer of the last write is behind those of the others.
                try world.put(places.last!.0, Meridian.object(places.last!.1))
                _ = try client.settle(watch)
                let state = client.states[watch]!
                let distances = last.mapValues { abs($0 - Double(center)) }
                for (id, distance) in distances where abs(distance - 400) > 1 {
                    let has = state.objects[id] != nil
                    #expect(distance > 400 || has, "step \(step): \(id) is missing")
                    #expect(distance < 601 || !has, "step \(step): \(id) is still there")
                }
                try #require(state.faults == [], "step \(step)")
            }
        }
    }
}
