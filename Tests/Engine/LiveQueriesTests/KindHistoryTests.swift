import Geodesy
import JSONText
import LiveQueries
import Objects
import TestSupport
import Testing

/// Couples, centres that move and radii of leaving over random histories, against a model that
/// compares everything with everything after each write.
@Suite struct KindHistoryTests {
    @Test(arguments: 1...16 as ClosedRange<UInt64>)
    func `what a client has built is what all distances say`(seed: UInt64) async throws {
        try await withTemporaryFolder { folder in
            try await onBlockingThreads {
                let world = try WatchWorld(.embedded, folder + "/store.sqlite", seed: seed)
                defer { try? world.close() }
                try KindHistory(world, seed).run(steps: 220)
            }
        }
    }
}

/// One seed's history.
private final class KindHistory {
    private let world: WatchWorld
    private let seed: UInt64
    private let client: WatchClient
    private var things: [String: [String: Thing]] = ["couriers": [:], "riders": [:]]
    private var watches: [String: ModelWatch] = [:]
    private var lastCreation = 0

    init(_ world: WatchWorld, _ seed: UInt64) {
        (self.world, self.seed) = (world, seed)
        client = WatchClient(world.hub)
    }

    private var now: Int64 { world.clock.now }

    func run(steps: Int) throws {
        for _ in 0..<20 { try change() }
        for _ in 0..<steps {
            switch world.random.below(20) {
            case 0 where watches.count < 10: try start()
            case 1: try move()
            case 2: try stop()
            case 3, 4: try compare()
            case 5, 6: try client.drain(atMost: world.random.below(3))
            default: try change()
            }
        }
        try compare()
    }

    // MARK: Changes

    private func place() -> Coordinate {
        Coordinate(
            latitude: world.random.number(0...0.01), longitude: world.random.number(0...0.01))
    }

    private func thing() -> Thing {
        let expires = world.random.oneIn(6) ? now + Int64(1 + world.random.below(2_000)) : nil
        return Thing(
            place: world.random.oneIn(12) ? nil : place(), isOn: !world.random.oneIn(4),
            expires: expires, creation: 0)
    }

    private func change() throws {
        let bucket = world.random.pick(["couriers", "riders"])
        let name = BucketName(trusted: bucket)
        let id = "id.\(world.random.below(10))"
        switch world.random.below(16) {
        case 0:
            _ = try? world.submit(.deleteBucket(name))
            things[bucket] = [:]
        case 1..<4:
            try world.delete(id, in: name)
            things[bucket]![id] = nil
        case 4..<6: world.clock.now = now + Int64(world.random.below(900))
        case 6:
            let objects = (0..<5).shuffled(using: &world.random).prefix(3).map {
                ("id.\($0)", thing())
            }
            try world.submit(
                .putMany(
                    bucket: name,
                    objects: try objects.map {
                        try world.object($0.0, $0.1.text, expires: $0.1.expires)
                    }))
            for (id, thing) in objects { record(thing, id, bucket) }
        default:
            let thing = thing()
            try world.put(id, thing.text, expires: thing.expires, in: name)
            record(thing, id, bucket)
        }
        for name in things.keys {
            things[name] = things[name]!.filter { $0.value.expires ?? .max > now }
        }
        // Each state is matched by itself, as the model does.
        world.hub.look()
        for name in watches.keys { watches[name]!.update(things) }
    }

    private func record(_ thing: Thing, _ id: String, _ bucket: String) {
        var thing = thing
        if let former = things[bucket]![id], former.expires ?? .max > now {
            thing.creation = former.creation
        } else {
            lastCreation += 1
            thing.creation = lastCreation
        }
        things[bucket]![id] = thing
    }

    // MARK: Watches

    private func start() throws {
        var watch = ModelWatch(
            bucket: world.random.pick(["couriers", "riders"]), center: center(),
            radius: world.random.pick([200, 500, 2_000]))
        watch.leaveRadius = world.random.pick([watch.radius, watch.radius, watch.radius * 1.4])
        if world.random.oneIn(2) {
            watch.radius = world.random.pick([500, 2_000])
            watch.leaveRadius = watch.radius
            watch.pairs = ModelWatch.Pairs(
                bucket: world.random.pick(["couriers", "riders"]), radius: 250,
                leaveRadius: world.random.pick([250, 400]))
        }
        let start = try client.start(BucketName(trusted: watch.bucket), watch.params)
        watch.update(things)
        watches[start.name] = watch
    }

    private func center() -> ModelWatch.Center {
        world.random.oneIn(2)
            ? .place(place())
            : .object(world.random.pick(["couriers", "riders"]), "id.\(world.random.below(4))")
    }

    private func anyWatch() -> String? {
        watches.keys.sorted().randomElement(using: &world.random)
    }

    private func move() throws {
        guard let name = anyWatch() else { return }
        let former = watches[name]!.center
        watches[name]!.center = center()
        _ = try client.move(name, #"{"bucketQuery":\#(watches[name]!.query)}"#)
        guard watches[name]!.center != former else { return }
        // The couples of another query begin anew.
        watches[name]!.last = nil
        watches[name]!.couples = []
        watches[name]!.update(things)
    }

    private func stop() throws {
        guard let name = anyWatch(), world.random.oneIn(2) else { return }
        try client.stop(name)
        watches[name] = nil
    }

    private func compare() throws {
        for (name, watch) in watches.sorted(by: { $0.key < $1.key }) {
            _ = try client.settle(name)
            let (state, expected) = (client.states[name]!, watch.expected)
            let context = "seed \(seed), \(name) \(watch.params)"
            #expect(state.faults == [], "\(context)")
            #expect(state.objects.keys.sorted() == expected, "\(context)")
            if watch.follows { #expect(state.isCenterMissing == watch.isMissing, "\(context)") }
            guard state.faults.isEmpty, state.objects.keys.sorted() == expected else {
                throw Stop()
            }
        }
    }

    private struct Stop: Error {}
}

private struct Thing {
    var place: Coordinate?
    var isOn: Bool
    var expires: Int64?
    var creation: Int

    var text: String {
        let point = place.map {
            #","location":{"_type":"point","lat":\#($0.latitude),"lon":\#($0.longitude)}"#
        }
        return #"{"on":\#(isOn)\#(point ?? "")}"#
    }
}

/// A watch, and what it must have, found by comparing everything with everything.
private struct ModelWatch {
    enum Center: Equatable {
        case place(Coordinate)
        case object(String, String)
    }

    struct Pairs {
        var bucket: String
        var radius: Double
        var leaveRadius: Double
    }

    var bucket: String
    var center: Center
    var radius: Double
    var leaveRadius = 0.0
    var pairs: Pairs?
    /// Where the followed object was last.
    var last: Coordinate?
    var isMissing = false
    private var members: Set<String> = []
    var couples: Set<[String]> = []

    init(bucket: String, center: Center, radius: Double) {
        (self.bucket, self.center, self.radius) = (bucket, center, radius)
    }

    var follows: Bool { if case .object = center { true } else { false } }

    var query: String {
        let center =
            switch center {
            case .place(let place):
                #"{"_type":"point","lat":\#(place.latitude),"lon":\#(place.longitude)}"#
            case .object(let bucket, let id):
                #"{"_type":"object","bucket":"\#(bucket)","_id":"\#(id)","field":"location"}"#
            }
        return
            #"{"clause":{"type":"geodistance","field":"location","center":\#(center),"radius":\#(radius)}}"#
    }

    var params: String {
        let leave = leaveRadius > radius ? #","leaveRadius":\#(leaveRadius)"# : ""
        let other =
            pairs.map {
                #","pairs":{"bucket":"\#($0.bucket)","field":"location","clause":{"type":"eq","field":"on","value":true},"radius":\#($0.radius),"leaveRadius":\#($0.leaveRadius)}"#
            } ?? ""
        return #"{"bucketQuery":\#(query)\#(leave)\#(other)}"#
    }

    var expected: [String] {
        pairs == nil ? members.sorted() : couples.map { $0.joined(separator: " ") }.sorted()
    }

    private func isNear(_ a: Coordinate?, _ b: Coordinate?, _ radius: Double) -> Bool {
        guard let a, let b else { return false }
        return Sphere.distance(a, b).isWithin(radiusMeters: radius)
    }

    mutating func update(_ things: [String: [String: Thing]]) {
        switch center {
        case .place(let place): last = place
        case .object(let bucket, let id):
            isMissing = things[bucket]![id]?.place == nil
            last = things[bucket]![id]?.place ?? last
        }
        let firsts = things[bucket]!
        guard let pairs else {
            members = Set(
                firsts.filter { id, thing in
                    isNear(last, thing.place, members.contains(id) ? leaveRadius : radius)
                }.keys)
            return
        }
        var next: Set<[String]> = []
        let isWithinOne = pairs.bucket == bucket
        for (id, first) in firsts where isNear(last, first.place, radius) {
            for (other, second) in things[pairs.bucket]! where second.isOn {
                if isWithinOne, id == other { continue }
                let isSwapped = isWithinOne && second.creation < first.creation
                let couple = isSwapped ? [other, id] : [id, other]
                let reach = couples.contains(couple) ? pairs.leaveRadius : pairs.radius
                if isNear(first.place, second.place, reach) { next.insert(couple) }
            }
        }
        couples = next
    }
}
