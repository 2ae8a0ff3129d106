import JSONText
import LiveQueries
import Objects
import TestSupport
import Testing

/// Watches that are more than a circle: a radius of leaving, a centre that moves, couples; and
/// tokens that cannot be honoured.
@Suite struct KindTests {
    @Test func `an object enters within the radius and leaves beyond the radius of leaving`()
        async throws
    {
        try await WatchWorld.with { world in
            try world.put("c1", Meridian.object(150))
            let client = WatchClient(world.hub)
            let watch = try client.start(
                world.name,
                #"{"bucketQuery":{"clause":\#(Meridian.circle(Meridian.origin, 100))},"leaveRadius":200}"#
            ).name
            for (meters, isIn) in [
                (150, false), (90, true), (150, true), (210, false), (150, false),
            ] {
                try world.put("c1", Meridian.object(Double(meters)))
                _ = try client.settle(watch)
                #expect((client.states[watch]!.objects["c1"] != nil) == isIn, "\(meters) m")
            }
            #expect(client.states[watch]!.faults == [])
        }
    }

    @Test func `a centre follows its object, and stays where it was when that is gone`()
        async throws
    {
        try await WatchWorld.with { world in
            let drivers = BucketName(trusted: "drivers")
            try world.put("d1", Meridian.object(0), in: drivers)
            try world.put("near", Meridian.object(50))
            try world.put("far", Meridian.object(5_000))
            let client = WatchClient(world.hub)
            let center = Meridian.follower(of: "d1", in: "drivers")
            let watch = try client.start(
                world.name, #"{"bucketQuery":{"clause":\#(Meridian.circle(center, 100))}}"#
            ).name
            func expect(_ ids: [String], isMissing: Bool) throws {
                _ = try client.settle(watch)
                let state = client.states[watch]!
                #expect(state.objects.keys.sorted() == ids)
                #expect(state.isCenterMissing == isMissing)
                #expect(state.faults == [])
            }
            try expect(["near"], isMissing: false)
            try world.put("d1", Meridian.object(5_010), in: drivers)
            try expect(["far"], isMissing: false)
            try world.delete("d1", in: drivers)
            try expect(["far"], isMissing: true)
            try world.put("new", Meridian.object(5_020))
            try expect(["far", "new"], isMissing: true)
            try world.put("d1", Meridian.object(0), in: drivers)
            try expect(["near"], isMissing: false)
        }
    }

    @Test func `a watch that is moved away and back tells nothing of what has not changed`()
        async throws
    {
        try await WatchWorld.with { world in
            try world.put("near", Meridian.object(10))
            try world.put("far", Meridian.object(5_000))
            let client = WatchClient(world.hub)
            func query(at meters: Double) -> String {
                #"{"bucketQuery":{"clause":\#(Meridian.circle(Meridian.point(meters), 100))}}"#
            }
            let watch = try client.start(world.name, query(at: 0)).name
            _ = try client.settle(watch)
            let before = client.states[watch]!
            _ = try client.move(watch, query(at: 5_000))
            _ = try client.move(watch, query(at: 0))
            _ = try client.settle(watch)
            let after = client.states[watch]!
            #expect(after.events == before.events)
            #expect(after.objects == before.objects)
            #expect(after.faults == [])
        }
    }

    @Test func `couples are not told again when their watch is moved away and back`() async throws {
        try await WatchWorld.with { world in
            try world.put("c1", Meridian.object(0))
            try world.put("c2", Meridian.object(30))
            try world.put("c3", Meridian.object(5_000))
            try world.put("c4", Meridian.object(5_030))
            let client = WatchClient(world.hub)
            func query(at meters: Double) -> String {
                #"{"bucketQuery":{"clause":\#(Meridian.circle(Meridian.point(meters), 100))}"#
            }
            let watch = try client.start(
                world.name,
                query(at: 0) + #","pairs":{"bucket":"couriers","field":"location","#
                    + #""clause":{"type":"all"},"radius":50}}"#
            ).name
            _ = try client.settle(watch)
            let before = client.states[watch]!
            #expect(before.objects.keys.sorted() == ["c1 c2"])
            _ = try client.move(watch, query(at: 5_000) + "}")
            _ = try client.move(watch, query(at: 0) + "}")
            _ = try client.settle(watch)
            let after = client.states[watch]!
            #expect(after.events == before.events && after.objects == before.objects)
            #expect(after.faults == [])
        }
    }

    @Test func `couples meet within the radius and part beyond the radius of leaving`()
        async throws
    {
        try await WatchWorld.with { world in
            let riders = BucketName(trusted: "riders")
            try world.put("c1", Meridian.object(0))
            try world.put("r1", Meridian.object(30), in: riders)
            let client = WatchClient(world.hub)
            let watch = try client.start(
                world.name,
                #"{"bucketQuery":{"clause":\#(Meridian.circle(Meridian.origin, 9_000_000))},"pairs":"#
                    + #"{"bucket":"riders","field":"location","clause":{"type":"all"},"#
                    + #""radius":100,"leaveRadius":200}}"#
            ).name
            func expect(_ couples: [String]) throws {
                _ = try client.settle(watch)
                #expect(client.states[watch]!.objects.keys.sorted() == couples)
                #expect(client.states[watch]!.faults == [])
            }
            try expect(["c1 r1"])
            try world.put("r1", Meridian.object(150), in: riders)
            try expect(["c1 r1"])
            try world.put("r1", Meridian.object(250), in: riders)
            try expect([])
            try world.put("c2", Meridian.object(260))
            try expect(["c2 r1"])
            try world.delete("r1", in: riders)
            try expect([])
            #expect(client.states[watch]!.reasons == ["moved": 1, "deleted": 1])
        }
    }

    @Test func `a token that cannot be honoured is no error`() async throws {
        try await WatchWorld.with { world in
            try world.put("c1", Meridian.object(10))
            let client = WatchClient(world.hub)
            func query(_ radius: Int) -> String {
                #"{"bucketQuery":{"clause":\#(Meridian.circle(Meridian.origin, radius))}"#
            }
            let watch = try client.start(world.name, query(100) + "}").name
            _ = try client.settle(watch)
            let token = client.states[watch]!.resume!
            var forged = Array(token)
            forged[30] = forged[30] == "A" ? "B" : "A"
            for (radius, token, isHonoured) in [
                (100, token, true), (101, token, false), (100, String(forged), false),
                (100, "", false),
            ] {
                let start = try client.start(
                    world.name, query(radius) + #","resume":"\#(token)"}"#,
                    after: client.states[watch])
                #expect(start.resumed == isHonoured)
                _ = try client.settle(start.name)
                #expect(client.states[start.name]!.objects.count == 1)
            }
        }
    }

    @Test func `a restored backup does not honour what came after it`() async throws {
        try await WatchWorld.with { world in
            try world.put("c1", Meridian.object(10))
            var copy: [UInt8] = []
            let backup = try world.backend.backup()
            while let part = try backup.next(maximumBytes: 1 << 20) { copy += part }
            try world.put("c2", Meridian.object(20))
            let client = WatchClient(world.hub)
            let watch = try client.start(world.name, "{}").name
            _ = try client.settle(watch)
            let state = client.states[watch]!
            try world.restart { try copy.writeFile(at: world.path) }
            try world.put("c3", Meridian.object(30))
            let second = WatchClient(world.hub)
            let start = try second.start(
                world.name, #"{"resume":"\#(state.resume!)"}"#, after: state)
            #expect(start.resumed == false)
            _ = try second.settle(start.name)
            #expect(second.states[start.name]!.objects.keys.sorted() == ["c1", "c3"])
        }
    }
}
