import BackendContract
import JSONText
import Objects
import TestSupport
import Testing

@testable import LiveQueries

/// What happens when more belongs to a watch than it may have, whichever way that comes about; and
/// that a move which is refused leaves the watch as it was.
@Suite struct WatchLimitTests {
    private static let most = 5

    private static var limits: Limits {
        var limits = Limits()
        (limits.watchObjects, limits.watchPairs) = (most, most)
        return limits
    }

    /// Puts objects some metres after each other.
    private static func put(_ count: Int, from meters: Double, in world: WatchWorld) throws {
        let objects = try (0..<count).map {
            try world.object("c\(Int(meters))-\($0)", Meridian.object(meters + Double($0)))
        }
        try world.submit(.putMany(bucket: world.name, objects: objects))
    }

    /// The members of a watch besides its query.
    enum Kind: String, CaseIterable {
        case plain = ""
        case hysteresis = #","leaveRadius":200"#
        case pairs = #","pairs":{"bucket":"riders","field":"location","radius":50}"#
    }

    private static func params(_ center: String, _ kind: Kind) -> String {
        #"{"bucketQuery":{"clause":\#(Meridian.circle(center, 100))}\#(kind.rawValue)}"#
    }

    /// A watch that has two objects, and elsewhere are more than it may have.
    private static func watchOfTwo(
        _ center: String, _ kind: Kind, in world: WatchWorld
    ) throws -> (client: WatchClient, watch: String) {
        try put(2, from: 0, in: world)
        try put(most + 1, from: 5_000, in: world)
        let client = WatchClient(world.hub)
        let watch = try client.start(world.name, params(center, kind), limits: limits).name
        return (client, watch)
    }

    /// Takes everything that is told until a watch is present or has ended.
    private static func state(_ watch: String, of client: WatchClient) throws -> WatchedState {
        _ = try? client.settle(watch)
        try client.drain()
        return client.states[watch]!
    }

    @Test(arguments: [Kind.plain, .hysteresis], [most, most + 1])
    func `a circle that moves to more than watchObjects objects ends its watch`(
        _ kind: Kind, count: Int
    ) async throws {
        try await WatchWorld.with(limits: Self.limits) { world in
            let drivers = BucketName(trusted: "drivers")
            try world.put("d1", Meridian.object(0), in: drivers)
            try Self.put(2, from: 0, in: world)
            try Self.put(count, from: 5_000, in: world)
            let client = WatchClient(world.hub)
            // Another watch, so that the hub goes on.
            _ = try client.start(drivers, "{}")
            let watch = try client.start(
                world.name, Self.params(Meridian.follower(of: "d1", in: "drivers"), kind),
                limits: Self.limits
            ).name
            #expect(try Self.state(watch, of: client).objects.count == 2)
            try world.put("d1", Meridian.object(5_000), in: drivers)
            let state = try Self.state(watch, of: client)
            #expect(state.end == (count > Self.most ? "INVALID_INPUT_DATA" : nil))
            if count <= Self.most { #expect(state.objects.count == count) }
            #expect(state.faults == [])
        }
    }

    @Test(arguments: Kind.allCases)
    func `a move to more than a watch may have is refused, and the watch is what it was`(
        _ kind: Kind
    ) async throws {
        try await WatchWorld.with(limits: Self.limits) { world in
            let riders = BucketName(trusted: "riders")
            try world.put("r1", Meridian.object(0), in: riders)
            let (client, watch) = try Self.watchOfTwo(Meridian.origin, kind, in: world)
            #expect(try Self.state(watch, of: client).objects.count == 2)
            let query =
                #"{"bucketQuery":{"clause":\#(Meridian.circle(Meridian.point(5_000), 100))}}"#
            let failure = #expect(throws: ServiceFailure.self) {
                try client.move(watch, query, limits: Self.limits)
            }
            #expect(failure?.reason == .invalidInputData)
            try Self.put(1, from: 20, in: world)
            try world.put("elsewhere", Meridian.object(5_050))
            let state = try Self.state(watch, of: client)
            #expect(state.end == nil && state.faults == [])
            #expect(state.objects.count == 3 && state.objects["elsewhere"] == nil)
        }
    }

    @Test func `a move that is refused leaves it known that the centre is missing`() async throws {
        try await WatchWorld.with(limits: Self.limits) { world in
            let drivers = BucketName(trusted: "drivers")
            try world.put("d1", Meridian.object(0), in: drivers)
            let center = Meridian.follower(of: "d1", in: "drivers")
            let (client, watch) = try Self.watchOfTwo(center, .plain, in: world)
            try world.delete("d1", in: drivers)
            #expect(try Self.state(watch, of: client).isCenterMissing)
            #expect(throws: ServiceFailure.self) {
                try client.move(watch, "{}", limits: Self.limits)
            }
            let state = try Self.state(watch, of: client)
            #expect(state.isCenterMissing && state.objects.count == 2)
        }
    }

    @Test(arguments: [most, most + 1])
    func `a watch of pairs has at most watchPairs couples at its start`(_ count: Int) async throws {
        try await WatchWorld.with(limits: Self.limits) { world in
            let riders = BucketName(trusted: "riders")
            for number in 0..<count {
                try world.put("r\(number)", Meridian.object(Double(number)), in: riders)
            }
            try world.put("c1", Meridian.object(0))
            let client = WatchClient(world.hub)
            do {
                let start = try client.start(
                    world.name, Self.params(Meridian.origin, .pairs), limits: Self.limits)
                #expect(count == Self.most)
                #expect(try Self.state(start.name, of: client).objects.count == count)
            } catch let failure as ServiceFailure {
                #expect(count > Self.most && failure.reason == .invalidInputData)
                #expect(failure.path == "pairs")
            }
        }
    }

    @Test(arguments: [false, true])
    func `one couple too many ends the watch, whoever of the two has come`(
        isFirst: Bool
    ) async throws {
        try await WatchWorld.with(limits: Self.limits) { world in
            let riders = BucketName(trusted: "riders")
            // Five couples: one object with five of the other side, and one that has none.
            let (few, many) = isFirst ? (riders, world.name) : (world.name, riders)
            try world.put("one", Meridian.object(0), in: few)
            for number in 0..<Self.most {
                try world.put("n\(number)", Meridian.object(Double(number)), in: many)
            }
            let client = WatchClient(world.hub)
            _ = try client.start(riders, "{}")
            let watch = try client.start(
                world.name, Self.params(Meridian.origin, .pairs), limits: Self.limits
            ).name
            let other = try client.start(world.name, #"{"fields":[]}"#).name
            #expect(try Self.state(watch, of: client).objects.count == Self.most)
            try world.put("last", Meridian.object(20), in: many)
            let state = try Self.state(watch, of: client)
            #expect(state.end == "INVALID_INPUT_DATA" && state.faults == [])
            // Others go on.
            #expect(try Self.state(other, of: client).end == nil)
        }
    }

    @Test func `a watch may start in the moment in which the last one ends`() async throws {
        try await WatchWorld.with(limits: Self.limits) { world in
            try Self.put(Self.most, from: 0, in: world)
            let client = WatchClient(world.hub)
            _ = try client.start(
                world.name, Self.params(Meridian.origin, .hysteresis), limits: Self.limits)
            let (matcher, last) = (world.hub.matcher, try world.object("last", Meridian.object(9)))
            let change = try matcher.thread.sync {
                // The matcher has not seen it when somebody asks for the present.
                try world.submit(.putMany(bucket: world.name, objects: [last]))
                return try matcher.present().change
            }
            #expect(change == UInt64(Self.most) + 1)
        }
    }
}
