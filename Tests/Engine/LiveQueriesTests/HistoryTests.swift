import BackendContract
import JSONText
import LiveQueries
import Objects
import TestSupport
import Testing

/// "The set that a client has built from it is what `bucket.query` would have answered": over random
/// watches and histories, at each resting point.
@Suite struct HistoryTests {
    /// Seeds that once failed, with the fault.
    static let failed: [UInt64] = []
    static let seeds = failed + Array(1...12)

    @Test(arguments: seeds)
    func `what a client has built is what a query answers`(seed: UInt64) async throws {
        try await withTemporaryFolder { folder in
            try await onBlockingThreads {
                let run = try HistoryRun(.embedded, folder + "/store.sqlite", seed: seed)
                try run.run(steps: 160)
            }
        }
    }

    @Test(arguments: BackendKind.all.dropFirst(), seeds.prefix(3))
    func `it is so on a node that others write for`(on kind: BackendKind, seed: UInt64)
        async throws
    {
        try await withTemporaryFolder { folder in
            try await onBlockingThreads {
                let run = try HistoryRun(kind, folder + "/store.sqlite", seed: seed)
                try run.run(steps: 60)
            }
        }
    }
}

/// One seed's history.
final class HistoryRun {
    private let world: WatchWorld
    private let seed: UInt64
    private var client: WatchClient
    /// The params of the watches, by name.
    private var watches: [String: String] = [:]
    private(set) var checks = 0

    init(_ kind: BackendKind, _ path: String, seed: UInt64) throws {
        var limits = Limits()
        var random = SplitMix64(seed: seed &* 977)
        limits.watchBytes = random.pick([2_000, 20_000, 1 << 22])
        limits.replyBytes = random.pick([1_024, 4_096, 1_000_000])
        limits.unindexedWatches = 1_000
        world = try WatchWorld(kind, path, seed: seed, limits: limits)
        self.seed = seed
        client = WatchClient(world.hub, replyBytes: limits.replyBytes)
    }

    func run(steps: Int) throws {
        defer { try? world.close() }
        for _ in 0..<30 { try world.writeSomething() }
        for _ in 0..<steps {
            switch world.random.below(24) {
            case 0, 1: try start()
            case 2: try stop()
            case 3: try move()
            case 4, 5: try check()
            case 6..<10: try client.drain(atMost: world.random.below(4))
            case 10 where world.random.oneIn(4): try restart()
            case 11 where world.random.oneIn(2): try reconnect()
            default:
                for _ in 0..<1 + world.random.below(4) { try world.writeSomething() }
            }
        }
        try check()
        #expect(checks > 0, "seed \(seed)")
    }

    private func start() throws {
        guard watches.count < 12 else { return }
        let params = world.query(ranked: world.random.oneIn(3))
        let start = try client.start(world.name, params, limits: world.opening.limits)
        watches[start.name] = params
    }

    private func stop() throws {
        guard let name = watches.keys.sorted().randomElement(using: &world.random) else { return }
        try client.stop(name)
        watches[name] = nil
    }

    private func move() throws {
        guard let name = watches.keys.sorted().randomElement(using: &world.random) else { return }
        let former = try JSONValue(parsing: watches[name]!)
        var next = try JSONValue(
            parsing: world.query(ranked: former["bestEffortLimit"] != nil)
        ).members.filter { $0.name != "fields" && $0.name != "intervalMilliseconds" }
        _ = try client.move(name, JSONValue.object(next).text, limits: world.opening.limits)
        next += former.members.filter { $0.name == "fields" }
        watches[name] = JSONValue.object(next).text
    }

    /// Lets every watch come to rest, and compares.
    private func check() throws {
        world.hub.look()
        for (name, params) in watches.sorted(by: { $0.key < $1.key }) {
            let before = try world.change()
            let change = try client.settle(name)
            let after = try world.change()
            let state = client.states[name]!
            let context = "seed \(seed), \(name) \(params)"
            #expect(state.faults == [], "\(context)")
            #expect(state.end == nil, "\(context)")
            // What is told may be later than what the answer says, and is never later than what there is.
            #expect(before <= change && change <= after, "\(context)")
            #expect(state.change <= Int(after), "\(context)")
            guard state.faults.isEmpty, state.end == nil else { throw Stop() }
            let expected = try world.answer(to: params)
            if params.contains("bestEffortLimit") {
                try expect(state.list.map(\.text), expected.map(\.text), context)
            } else {
                try expect(
                    state.objects.values.sorted(), expected.map(\.text).sorted(), context)
            }
            checks += 1
        }
    }

    private func expect(_ found: [String], _ expected: [String], _ context: String) throws {
        #expect(found == expected, "\(context)")
        if found != expected { throw Stop() }
    }

    struct Stop: Error {}

    /// The service stops and begins again on the same file.
    private func restart() throws {
        try world.restart()
        try resume()
    }

    /// The connection breaks.
    private func reconnect() throws {
        client.session.close()
        for _ in 0..<world.random.below(20) { try world.writeSomething() }
        try resume()
    }

    private func resume() throws {
        let (former, states) = (watches, client.states)
        client = WatchClient(world.hub, replyBytes: world.opening.limits.replyBytes)
        watches = [:]
        for (name, params) in former.sorted(by: { $0.key < $1.key }) {
            let state = states[name]!
            // A client that has not got a whole snapshot has no token.
            let token = state.isPartial ? nil : state.resume
            let resumed = token.map { #"{"resume":"\#($0)",\#(params.dropFirst())"# } ?? params
            let start = try client.start(
                world.name, resumed, limits: world.opening.limits,
                after: token == nil ? nil : state)
            #expect(start.resumed == (token == nil ? nil : true), "seed \(seed), \(resumed)")
            watches[start.name] = params
        }
    }
}
