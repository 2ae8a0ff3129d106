import JSONText
import Objects
import TestSupport
import Testing

@testable import LiveQueries

/// Circles that follow an object, alone and in rankings, among objects that expire, columns and
/// compactions: what a client has is what `bucket.query` answers for the place where the object was
/// last, with every distance.
@Suite struct MovingCenterTests {
    @Test(arguments: Seeds.first(10))
    func `a moving circle shows what a query from the last place of its object answers`(
        seed: UInt64
    ) async throws {
        try await WatchWorld.with(seed: seed) { world in
            try MovingCenterRun(world, seed).run(steps: 150)
        }
    }
}

extension MovingCenterTests {
    /// No state that is compared has the place.
    @Test(arguments: ["delete", "replace", "create"], [false, true])
    func `a place that was written and removed at once is the last`(end: String, ranked: Bool)
        async throws
    {
        try await WatchWorld.with(limits: Limits()) { world in
            func place(_ longitude: Double) -> String {
                #"{"_type":"point","lat":0,"lon":\#(longitude)}"#
            }
            let others = BucketName(trusted: "others")
            for number in 0..<10 {
                try world.put("i\(number)", #"{"spots":\#(place(Double(number) / 100))}"#)
            }
            if end != "create" { try world.put("center", #"{"spots":\#(place(0))}"#, in: others) }
            let client = WatchClient(world.hub, replyBytes: Limits().replyBytes)
            let circle =
                #"{"type":"geodistance","field":"spots","radius":10,"putDistanceInto":"d","center":"#
                + #"{"_type":"object","bucket":"others","_id":"center","field":"spots"}}"#
            let query =
                ranked
                ? #"{"clause":\#(circle),"orderBy":"_calculated.d"},"bestEffortLimit":3"#
                : #"{"clause":\#(circle)}"#
            let watch = try client.start(world.name, #"{"bucketQuery":\#(query)}"#).name
            _ = try client.settle(watch)
            try world.put("center", #"{"spots":\#(place(0.05))}"#, in: others)
            if end == "replace" {
                try world.put("center", #"{"x":1}"#, in: others)
            } else {
                try world.delete("center", in: others)
            }
            world.hub.look()
            world.hub.lists.drain()
            _ = try client.settle(watch)
            let state = try #require(client.states[watch])
            #expect(state.faults == [])
            #expect(state.objects.count == 1)
            #expect("\(state.objects)".contains("i5"))
        }
    }

    /// Found by `HistoryTests` with another sequence of seed 8.
    @Test(arguments: [false, true])
    func `the end of a followed object and a long event are not told as one`(ranked: Bool)
        async throws
    {
        var limits = Limits()
        limits.replyBytes = 1_024
        try await WatchWorld.with(limits: limits) { [limits] world in
            let (place, others) = (
                #"{"_type":"point","lat":1,"lon":1}"#, BucketName(trusted: "others")
            )
            try world.put("center", #"{"spots":\#(place)}"#, in: others)
            let client = WatchClient(world.hub, replyBytes: limits.replyBytes)
            let circle =
                #"{"type":"geodistance","field":"spots","radius":100,"putDistanceInto":"d","center":"#
                + #"{"_type":"object","bucket":"others","_id":"center","field":"spots"}}"#
            let query =
                ranked
                ? #"{"clause":\#(circle),"orderBy":"_calculated.d"},"bestEffortLimit":3"#
                : #"{"clause":\#(circle)}"#
            let watch = try client.start(
                world.name, #"{"bucketQuery":\#(query)}"#, limits: limits
            ).name
            _ = try client.settle(watch)
            let text = String(repeating: "x", count: 3_000)
            try world.put("long", #"{"spots":\#(place),"text":"\#(text)"}"#)
            try world.delete("center", in: others)
            // Both wait for the client before it takes anything.
            world.hub.look()
            world.hub.lists.drain()
            world.hub.look()
            _ = try client.settle(watch)
            let state = try #require(client.states[watch])
            #expect(state.faults == [] && state.resyncs == ["slow"])
            #expect(state.objects.count == 1)
        }
    }
}

/// One seed's history.
private final class MovingCenterRun {
    private let world: WatchWorld
    private let seed: UInt64
    private var client: WatchClient
    private var watches: [String: Watch] = [:]
    private var shown = 0

    private struct Watch {
        let id: String
        /// The params with `CENTER` in the place of the centre.
        let params: String
        /// Where the followed object was last; nil if it has been nowhere.
        var last: String?
        var isMissing = false
    }

    init(_ world: WatchWorld, _ seed: UInt64) {
        (self.world, self.seed) = (world, seed)
        client = WatchClient(world.hub)
    }

    func run(steps: Int) throws {
        for _ in 0..<30 { try world.writeSomething() }
        for _ in 0..<steps {
            switch world.random.below(16) {
            case 0, 1: try start()
            case 2, 3: try compare()
            case 4: try client.drain(atMost: world.random.below(3))
            case 5 where world.random.oneIn(3): try reconnect()
            default:
                try world.writeSomething()
                // Each state is matched by itself, as the model follows it.
                world.hub.look()
                for name in watches.keys { follow(&watches[name]!) }
            }
        }
        try compare()
        #expect(shown > 0, "seed \(seed)")
    }

    private func start() throws {
        guard watches.count < 6 else { return }
        let radius = world.random.pick([500, 50_000, 3_000_000, 20_000_000])
        let circle =
            #"{"type":"geodistance","field":"spots","center":CENTER,"radius":\#(radius),"#
            + #""putDistanceInto":"d"}"#
        let clause =
            world.random.oneIn(2)
            ? circle
            : #"{"type":"and","clauses":[{"type":"hasField","field":"n"},\#(circle)]}"#
        let order = world.random.pick(["", #","orderBy":"_calculated.d""#, #","orderBy":"n""#])
        let descending = !order.isEmpty && world.random.oneIn(3) ? #","descending":true"# : ""
        let limit =
            world.random.oneIn(2)
            ? #","bestEffortLimit":\#(1 + world.random.below(5)),"intervalMilliseconds":0"# : ""
        let fields = world.random.oneIn(2) ? #","fields":["n"]"# : ""
        let params =
            #"{"bucketQuery":{"clause":\#(clause)\#(order)\#(descending)}\#(limit)\#(fields)}"#
        try start(Watch(id: "id.\(world.random.below(4))", params: params))
    }

    private func start(_ watch: Watch, after former: WatchedState? = nil) throws {
        // Those that watch the same share what is known of the object.
        guard !watches.values.contains(where: { $0.id == watch.id && $0.params == watch.params })
        else { return }
        var watch = watch
        watch.last = nil
        let center =
            #"{"_type":"object","bucket":"\#(world.name.text)","_id":"\#(watch.id)","field":"loc"}"#
        var params = watch.params.replacing("CENTER", with: center)
        if let token = former?.resume {
            params = #"{"resume":"\#(token)",\#(params.dropFirst())"#
        }
        let start = try client.start(world.name, params, after: former)
        #expect(start.resumed == (former?.resume == nil ? nil : true), "seed \(seed)")
        follow(&watch)
        watches[start.name] = watch
    }

    /// The connection breaks, and the client goes on where it was.
    private func reconnect() throws {
        try compare()
        let (former, states) = (watches, client.states)
        client.session.close()
        client = WatchClient(world.hub)
        watches = [:]
        for (name, watch) in former.sorted(by: { $0.key < $1.key }) {
            try start(watch, after: states[name])
        }
    }

    /// Looks where the object is, as a client would.
    private func follow(_ watch: inout Watch) {
        var writer = JSONWriter()
        let id = ObjectID(trusted: watch.id)
        try? world.backend.get(id, in: world.name, into: &writer)
        let object = writer.bytes.isEmpty ? nil : try? JSONValue(parsing: writer.bytes)
        watch.last = object?["loc"].map(\.text) ?? watch.last
        watch.isMissing = object?["loc"] == nil
    }

    private func compare() throws {
        for (name, watch) in watches.sorted(by: { $0.key < $1.key }) {
            _ = try client.settle(name)
            let state = client.states[name]!
            let context = "seed \(seed), \(name) \(watch)"
            let expected =
                try watch.last.map {
                    try world.answer(to: watch.params.replacing("CENTER", with: $0)).map(\.text)
                } ?? []
            #expect(state.faults == [] && state.end == nil, "\(context)")
            if watch.params.contains("bestEffortLimit") {
                #expect(state.list.map(\.text) == expected, "\(context)")
            } else {
                #expect(state.objects.values.sorted() == expected.sorted(), "\(context)")
            }
            #expect(state.isCenterMissing == watch.isMissing, "\(context)")
            shown += expected.count
            guard state.faults.isEmpty else { throw Stop() }
        }
    }

    private struct Stop: Error {}
}
