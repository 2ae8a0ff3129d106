import JSONText
import TestSupport
import Testing

@testable import GeoBucketClient

/// What a watch makes of notifications, against a model that is as simple as can be.
@Suite struct WatchStatesTests {
    private typealias M = WatchMessages

    /// Begins with these objects at change 1, which are taken.
    private static func begun(
        _ objects: [String], order: WatchOrder = .keys([])
    ) throws -> WatchStates<WatchedText> {
        var states = WatchStates(order: order)
        states.begin(order: order, resumed: false)
        try states.apply("snapshot", M.snapshot(objects, change: 1))
        _ = states.take()
        return states
    }

    // MARK: The rules one by one

    @Test func `Nothing is shown of a snapshot before its last part`() throws {
        var states = WatchStates()
        states.begin(order: .keys([]), resumed: false)
        try states.apply("snapshot", M.snapshot([M.object("c1", 1)], change: 5, more: true))
        #expect(states.isQuiet && states.position == nil)
        try states.apply("snapshot", M.snapshot([M.object("c2", 2)], change: 5))
        let state = try states.taken()
        #expect(state.objects.ids == ["c1", "c2"])
        #expect(state.events.map(\.words) == ["entered c1", "entered c2"])
        #expect(state.change == 5 && state.resume == "r5")
        #expect(state.isSnapshot && state.isComplete && state.isConnected)
        #expect(states.isQuiet)
    }

    @Test func `An enter of a held object is a change, a leave of one not held is nothing`() throws
    {
        var states = try Self.begun([M.object("c1", 1)])
        try states.apply(
            "events",
            M.events(
                [M.put(M.object("c1", 2)), M.leave("c9"), M.put(M.object("c2", 3), "change")],
                change: 2))
        let state = try states.taken()
        #expect(state.events.map(\.words) == ["changed c1", "entered c2"])
        #expect(state.objects[id: "c1"]?.text == M.object("c1", 2))
        #expect(!state.isSnapshot)
    }

    @Test func `A later snapshot replaces what is held, its events are the difference`() throws {
        var states = try Self.begun([M.object("c1", 1), M.object("c2", 2), M.object("c3", 3)])
        try states.apply("resync", #"{"watch":"w1","reason":"slow"}"#)
        #expect(states.isQuiet)
        try states.apply(
            "snapshot",
            M.snapshot([M.object("c1", 1), M.object("c3", 4), M.object("c4", 5)], change: 9))
        let state = try states.taken()
        #expect(state.events.map(\.words) == ["left c2 unseen", "changed c3", "entered c4"])
        #expect(state.objects.ids == ["c1", "c3", "c4"] && state.isSnapshot)
    }

    @Test func `A resync in the middle of a snapshot drops what had come of it`() throws {
        var states = try Self.begun([])
        try states.apply("snapshot", M.snapshot([M.object("c1", 1)], change: 2, more: true))
        try states.apply("resync", #"{"watch":"w1","reason":"restored"}"#)
        try states.apply("snapshot", M.snapshot([M.object("c2", 1)], change: 3))
        let next = try states.taken()
        #expect(next.objects.ids == ["c2"])
    }

    @Test func `A leave and an enter of one object in one notification are both told`() throws {
        var states = try Self.begun([M.object("c1", 1)])
        try states.apply(
            "events", M.events([M.leave("c1", "deleted"), M.put(M.object("c1", 2))], change: 2))
        let next = try states.taken()
        #expect(next.events.map(\.words) == ["left c1 deleted", "entered c1"])
    }

    @Test func `Notifications that nobody took are merged, each object stands once`() throws {
        var states = try Self.begun([M.object("c1", 1), M.object("c2", 1), M.object("c3", 1)])
        for change in 2..<1_000 {
            try states.apply(
                "events", M.events([M.put(M.object("c1", change), "change")], change: change))
        }
        try states.apply("events", M.events([M.put(M.object("c5", 1))], change: 1_000))
        try states.apply(
            "events", M.events([M.leave("c5"), M.leave("c2", "expired")], change: 1_001))
        try states.apply(
            "events", M.events([M.leave("c3"), M.put(M.object("c4", 1))], change: 1_002))
        try states.apply("events", M.events([M.put(M.object("c3", 1))], change: 1_003))
        let state = try states.taken()
        #expect(
            state.events.map(\.words)
                == ["left c2 expired", "changed c1", "entered c4", "changed c3"]
                || state.events.map(\.words)
                    == ["left c2 expired", "changed c1", "changed c3", "entered c4"]
        )
        #expect(state.change == 1_003 && state.resume == "r1003")
    }

    @Test func `A heartbeat brings a younger token and no events; a repeated one nothing`() throws {
        var states = try Self.begun([M.object("c1", 1)])
        try states.apply("events", M.events([], change: 7))
        let state = try states.taken()
        #expect(state.events.isEmpty && state.resume == "r7" && state.objects.count == 1)
        try states.apply("events", M.events([], change: 7))
        #expect(states.isQuiet)
    }

    @Test func `A watch with a token from an earlier run tells what left, held or not`() throws {
        var states = WatchStates(order: .keys([]), resume: "r40")
        #expect(states.position?.resume == "r40")
        states.begin(order: .keys([]), resumed: true)
        try states.apply(
            "events", M.events([M.leave("c1", "deleted"), M.put(M.object("c2", 1))], change: 50))
        try states.apply("events", M.events([M.leave("c3")], change: 51))
        var state = try states.taken()
        #expect(!state.isComplete)
        #expect(
            state.events.map(\.words)
                == ["entered c2", "left c1 deleted unheld", "left c3 moved unheld"])
        try states.apply(
            "snapshot", M.snapshot([M.object("c2", 1), M.object("c4", 1)], change: 60))
        state = try states.taken()
        #expect(state.isComplete && state.events.map(\.words) == ["entered c4"])
    }

    @Test func `A lost connection is a state, and so is its return`() throws {
        var states = try Self.begun([M.object("c1", 1)])
        states.lose()
        var state = try states.taken()
        #expect(!state.isConnected && state.events.isEmpty && state.objects.count == 1)
        states.begin(order: .keys([]), resumed: true)
        state = try states.taken()
        #expect(state.isConnected && state.isComplete)
    }

    @Test func `A centre that is gone is told until it is back`() throws {
        var states = try Self.begun([])
        for isMissing in [true, false] {
            try states.apply(
                "events",
                M.events(
                    [#"{"event":"center","missing":\#(isMissing)}"#], change: isMissing ? 2 : 3))
            let next = try states.taken()
            #expect(next.centerIsMissing == isMissing)
        }
    }

    @Test func `Notifications and events of later versions are ignored`() throws {
        var states = try Self.begun([])
        let unknown = try JSONParser.reading(Array("{}".utf8)) {
            try WatchMessage("watch.other", $0, Watched<WatchedText>.texts)
        }
        #expect(unknown == nil)
        try states.apply(
            "events", M.events([#"{"event":"blink"}"#, M.leave("c1", "bored")], change: 2))
        let next = try states.taken()
        #expect(next.events.isEmpty == true)
        #expect(LeaveReason(name: "bored") == .unseen)
    }

    @Test(arguments: [
        ("snapshot", #"{"objects":[{"n":1}],"change":1}"#), ("snapshot", #"{"objects":[]}"#),
        ("events", #"{"events":[{"event":"enter"}],"change":1}"#),
        ("events", #"{"events":[{"event":"part","ids":["a"]}],"change":1}"#),
        ("end", #"{"watch":"w1"}"#),
    ])
    func `A notification that lacks something is malformed`(_ method: String, _ params: String) {
        var states = WatchStates()
        #expect(throws: ClientFailure.self) { try states.apply(method, params) }
    }

    @Test func `Pairs meet, part, and meet again`() throws {
        func pairs(_ text: String) throws -> WatchMessage<Pair> {
            try JSONParser.reading(Array(text.utf8)) {
                try WatchMessage("watch.events", $0, .pairs)
            }!
        }
        var states = WatchStates(Watched.pairs, order: .keys([]), resume: nil)
        states.begin(order: .keys([]), resumed: false)
        let meet = #"{"event":"meet","ids":["c7","r3"],"distance":153.2}"#
        states.apply(try pairs(#"{"events":[\#(meet)],"change":1}"#))
        var state = try states.taken()
        #expect(Array(state.objects) == [Pair(first: "c7", second: "r3", distance: 153.2)])
        #expect(state.events.map(\.kind) == [.entered])
        states.apply(
            try pairs(
                #"{"events":[{"event":"part","ids":["c7","r3"],"reason":"moved"}],"change":2}"#))
        state = try states.taken()
        #expect(state.objects.isEmpty && state.events.map(\.kind) == [.left(.moved)])
        #expect(state.events[0].object?.distance == 153.2)
    }

    // MARK: Orders

    @Test func `Values are ordered by type, then value, as a query orders them`() throws {
        let texts = [
            "null", "false", "true", "-1", "1", "1.5", "9007199254740993", #""Z""#, #""a""#,
            #""\u00e9""#, #""\uff5a""#, #""\ud83d\ude00""#,
            #"{"_type":"point","lat":1,"lon":180}"#, #"{"_type":"point","lat":1,"lon":-179}"#,
            #"{"_type":"point","lat":2,"lon":0}"#, "[]",
        ]
        let values = try texts.map { try JSONValue(parsing: $0) }
        for (i, a) in values.enumerated() {
            for (j, b) in values.enumerated() {
                let order = i < j ? -1 : (i == j ? 0 : 1)
                #expect(WatchOrder.compare(a, b) == order, "\(a.text) \(b.text)")
            }
        }
        for (a, b) in [("1", "1.0"), ("[]", "{}"), ("[1]", "[2]")] {
            let order = WatchOrder.compare(try JSONValue(parsing: a), try JSONValue(parsing: b))
            #expect(order == 0, "\(a) \(b)")
        }
    }

    @Test func `Without the field an object comes last in both directions, ties by creation`()
        throws
    {
        for isDescending in [false, true] {
            let order = WatchOrder.keys([.init("a.b", descending: isDescending)])
            var states = try Self.begun([], order: order)
            let objects = [
                #"{"_id":"x0","_created":9}"#, #"{"_id":"x1","_created":5,"a":{"b":1}}"#,
                #"{"_id":"x2","_created":4,"a":{"b":1.0}}"#, #"{"_id":"x3","_created":6,"a.b":2}"#,
                #"{"_id":"x4","_created":7,"a.b":2,"a":{"b":0}}"#,
            ]
            try states.apply("events", M.events(objects.map { M.put($0) }, change: 2))
            let ids = states.take()?.objects.ids
            #expect(
                ids
                    == (isDescending
                        ? ["x3", "x4", "x2", "x1", "x0"] : ["x2", "x1", "x3", "x4", "x0"]))
        }
    }

    @Test func `A watch that moves to another order is sorted by that`() throws {
        var states = try Self.begun(
            (0..<9).map { M.object("c\($0)", $0 * 5 % 9) }, order: .keys([.init("n")]))
        #expect(states.set.ids.first == "c0")
        states.reorder(.keys([.init("n", descending: true)]))
        #expect(states.set.first?.text == M.object("c7", 8))
        try states.apply("events", M.events([M.put(M.object("c0", 100))], change: 2))
        #expect(states.set.ids.first == "c0" && states.set.count == 9)
    }

    // MARK: Against the model

    /// Seeds that once failed come first.
    private static let seeds: [UInt64] = Array(0..<300)

    @Test(arguments: seeds)
    func `Whatever comes and however slow the loop, the state is the model's`(_ seed: UInt64)
        throws
    {
        var random = SplitMix64(seed: seed)
        let order = WatchOrder.keys(
            random.oneIn(2) ? [] : [.init("n", descending: random.oneIn(2))])
        var states = WatchStates(order: order)
        states.begin(order: order, resumed: false)
        // What the service has, and what the consumer has built from events alone.
        var model: [String: Int] = [:]
        var built: [String: String] = [:]
        for change in 1...60 {
            if change == 1 || random.oneIn(15) {
                // A gap: anything happens, then a snapshot in parts.
                Self.shuffle(&model, &random)
                let objects = model.sorted { $0.key < $1.key }.map { M.object($0.key, $0.value) }
                if random.oneIn(2) { states.lose() }
                states.begin(order: order, resumed: false)
                let cut = random.below(objects.count + 1)
                try states.apply(
                    "snapshot", M.snapshot(Array(objects[..<cut]), change: change, more: true))
                if random.oneIn(4) { Self.take(&states, &built, seed) }
                try states.apply("snapshot", M.snapshot(Array(objects[cut...]), change: change))
            } else if random.oneIn(8) {
                // A gap that the service tells as a net effect, without knowing what is held.
                states.lose()
                states.begin(order: order, resumed: true)
                let before = model
                Self.shuffle(&model, &random)
                let gone = (0..<12).map { "c\($0)" }.filter { model[$0] == nil && random.oneIn(2) }
                let left = Set(before.keys).subtracting(model.keys).union(gone).sorted()
                let put = model.sorted { $0.key < $1.key }.map { M.put(M.object($0.key, $0.value)) }
                try states.apply("events", M.events(left.map { M.leave($0) } + put, change: change))
            } else {
                let events = (0..<random.below(4)).map { _ in Self.step(&model, &random) }
                try states.apply("events", M.events(events, change: change))
            }
            if random.oneIn(3) {
                Self.take(&states, &built, seed)
                #expect(built == model.mapping(), "seed \(seed) change \(change)")
            }
            let expected = model.mapping()
            #expect(states.set.count == expected.count, "seed \(seed)")
            #expect(
                states.set.allSatisfy { $0.text == expected[$0["_id"]!.string!] }, "seed \(seed)")
            #expect(Self.isSorted(states.set, order), "seed \(seed) change \(change)")
        }
    }

    /// Takes the state, and builds on by its events, each object at most once or as leave and enter.
    private static func take(
        _ states: inout WatchStates<WatchedText>, _ built: inout [String: String], _ seed: UInt64
    ) {
        guard let state = states.take() else { return }
        for event in state.events {
            switch event.kind {
            case .entered:
                #expect(
                    built.updateValue(event.object!.text, forKey: event.id) == nil, "seed \(seed)")
            case .changed:
                #expect(
                    built.updateValue(event.object!.text, forKey: event.id) != nil, "seed \(seed)")
            case .left: #expect(built.removeValue(forKey: event.id) != nil, "seed \(seed)")
            }
        }
    }

    private static func isSorted(_ set: WatchedSet<WatchedText>, _ order: WatchOrder) -> Bool {
        let values = set.map { object in order.values { object[$0] } }
        return zip(values, values.dropFirst()).allSatisfy { order.compare($0, $1) <= 0 }
    }

    /// One write, and the event that tells it.
    private static func step(_ model: inout [String: Int], _ random: inout SplitMix64) -> String {
        let id = "c\(random.below(12))"
        if model[id] != nil, random.oneIn(3) {
            model[id] = nil
            return M.leave(id)
        }
        let n = random.below(9)
        defer { model[id] = n }
        return M.put(M.object(id, n), model[id] == nil ? "enter" : "change")
    }

    private static func shuffle(_ model: inout [String: Int], _ random: inout SplitMix64) {
        for _ in 0..<random.below(20) { _ = step(&model, &random) }
    }

    @Test(arguments: seeds)
    func `Events of a ranking turn the old list into the new, merged or not`(_ seed: UInt64)
        throws
    {
        var random = SplitMix64(seed: seed)
        var states = WatchStates(order: .ranking)
        states.begin(order: .ranking, resumed: false)
        var model = (0..<random.below(6)).map { (id: "c\($0)", n: 0) }
        try states.apply("snapshot", M.snapshot(model.map { M.object($0.id, $0.n) }, change: 1))
        var built = states.take()!.objects.map(\.text)
        for change in 2...60 {
            var events: [String] = []
            for _ in 0..<random.below(4) {
                let n = change * 10 + events.count
                let place = random.below(model.count + 1)
                switch random.below(4) {
                case 0 where place < model.count:
                    events.append(M.leave(model.remove(at: place).id))
                case 1 where place < model.count:
                    model[place].n = n
                    events.append(M.put(M.object(model[place].id, n), "change", index: place))
                case 2 where place < model.count:
                    var object = model.remove(at: place)
                    let next = random.below(model.count + 1)
                    object.n = n
                    model.insert(object, at: next)
                    events.append(
                        M.put(M.object(object.id, n), "change", index: next, from: place))
                default:
                    guard model.count < 8,
                        let id = (0..<20).map({ "c\($0)" }).first(where: { id in
                            !model.contains { $0.id == id }
                        })
                    else { continue }
                    model.insert((id, n), at: place)
                    events.append(M.put(M.object(id, n), index: place))
                }
            }
            if random.oneIn(10) {
                // After a gap: whatever is not there, then the whole list.
                let kept = model.filter { _ in random.oneIn(2) }
                events = (0..<20).map { "c\($0)" }
                    .filter { id in !kept.contains { $0.id == id } }
                    .map { M.leave($0) }
                model = kept.shuffled(using: &random)
                events += model.enumerated().map {
                    M.put(M.object($0.element.id, $0.element.n), index: $0.offset)
                }
            }
            try states.apply("events", M.events(events, change: change))
            let list = model.map { M.object($0.id, $0.n) }
            #expect(states.set.map(\.text) == list, "seed \(seed) change \(change)")
            guard random.oneIn(3), let state = states.take() else { continue }
            for event in state.events { Self.apply(event, to: &built, seed) }
            #expect(built == list, "seed \(seed) change \(change)")
        }
    }

    private static func apply(
        _ event: WatchEvent<WatchedText>, to list: inout [String], _ seed: UInt64
    ) {
        if let place = event.previousIndex {
            #expect(list[place].hasPrefix(#"{"_id":"\#(event.id)","#), "seed \(seed)")
            list.remove(at: place)
        }
        if let place = event.index { list.insert(event.object!.text, at: place) }
    }
}

extension [String: Int] {
    /// The objects' texts by id.
    fileprivate func mapping() -> [String: String] {
        [String: String](
            uniqueKeysWithValues: map { ($0.key, WatchMessages.object($0.key, $0.value)) })
    }
}
