import BackendContract
import Dispatch
import Foundation
import JSONText
import Objects
import Synchronization
import TestSupport
import Testing

@testable import LiveQueries

/// Sessions while everything happens at once: threads write, start, move and stop watches, revoke
/// them and close their connections, while another one takes what each session tells as soon as it
/// is woken. A model of each client finds events that are lost or told twice.
@Suite(.timeLimit(.minutes(10))) struct SessionTests {
    /// Seed 4 once failed, 2026-11-25: a watch that was moved while it began again showed its old query.
    @Test(arguments: 1...4 as ClosedRange<UInt64>)
    func `nothing is lost or told twice when everything happens at once`(seed: UInt64)
        async throws
    {
        try await withTemporaryFolder { folder in
            try await onBlockingThreads {
                var limits = Limits()
                limits.watchBytes = seed % 2 == 0 ? 8_000 : 1 << 22
                // Snapshots come in several parts, or whole.
                if seed % 4 < 2 { limits.replyBytes = 1_024 }
                let world = try WatchWorld(
                    .embedded, folder + "/store.sqlite", seed: seed, limits: limits)
                let run = SessionRun(world, seed)
                run.run(writers: 2, clients: 3, steps: 60)
                #expect(run.faults == [], "seed \(seed)")
                #expect(world.hub.statistics().watches == 0, "seed \(seed)")
                try world.close()
            }
        }
    }
}

/// `@unchecked Sendable`: of the world, only what any thread may use.
private final class SessionRun: @unchecked Sendable {
    private let world: WatchWorld
    private let seed: UInt64
    /// The latest answered number of each object; nil for one that was deleted.
    private let answered = Mutex<[String: Int?]>([:])
    private let found = Mutex<[String]>([])
    /// The connections that are open at the end.
    private let last = Mutex<[SessionClient]>([])
    private let isOver = Atomic(false)

    init(_ world: WatchWorld, _ seed: UInt64) { (self.world, self.seed) = (world, seed) }

    var faults: [String] { found.withLock { $0 } }

    private func fault(_ text: String) { found.withLock { $0.append(text) } }

    func run(writers: Int, clients: Int, steps: Int) {
        let (writing, watching) = (DispatchGroup(), DispatchGroup())
        for writer in 0..<writers {
            thread(writing) { try self.write(writer) }
        }
        for client in 0..<clients {
            thread(watching) { try self.watch(client, steps) }
        }
        watching.wait()
        isOver.store(true, ordering: .relaxed)
        writing.wait()
        for client in last.withLock({ $0 }) {
            do { try client.compare(world.answer) } catch { fault("\(error)") }
            client.close()
        }
        // The matcher forgets the watches in its own time.
        world.hub.look()
    }

    private func thread(_ group: DispatchGroup, _ body: @escaping @Sendable () throws -> Void) {
        group.enter()
        Thread.detachNewThread {
            do { try body() } catch { self.fault("\(error)") }
            group.leave()
        }
    }

    /// Each writer has objects of its own.
    private func write(_ writer: Int) throws {
        var random = SplitMix64(seed: seed &* 31 &+ UInt64(writer))
        var number = 0
        while !isOver.load(ordering: .relaxed) {
            number += 1
            let id = "o\(writer).\(random.below(8))"
            if random.oneIn(5) {
                try world.delete(id)
                answered.withLock { $0[id] = .some(nil) }
            } else {
                try world.put(id, #"{"n":\#(number),"k":\#(random.below(3))}"#)
                answered.withLock { $0[id] = number }
            }
        }
    }

    // MARK: A client

    /// What a client does until its connection closes, and again; the last one stays open.
    private func watch(_ client: Int, _ steps: Int) throws {
        var random = SplitMix64(seed: seed &* 977 &+ UInt64(client))
        var taken = 0
        while taken < steps {
            let connection = SessionClient(world.hub) { self.fault("seed \(self.seed): \($0)") }
            for _ in 0..<1 + random.below(30) {
                taken += 1
                try step(connection, &random)
            }
            if taken < steps { connection.close() } else { last.withLock { $0.append(connection) } }
        }
    }

    private static let all = #"{"fields":["n"]}"#

    private func query(_ random: inout SplitMix64) -> String {
        let value = random.below(3)
        return random.oneIn(2)
            ? #"{"bucketQuery":{"clause":{"type":"eq","field":"k","value":\#(value)}}}"# : "{}"
    }

    private func step(_ client: SessionClient, _ random: inout SplitMix64) throws {
        let name = client.names.randomElement(using: &random)
        switch random.below(12) {
        case 0..<3:
            let ranking =
                #"{"bucketQuery":{"orderBy":"n"},"bestEffortLimit":4,"intervalMilliseconds":0}"#
            let params = random.pick([Self.all, query(&random), ranking])
            let request = try WatchClient.request(world.name, params, world.opening.limits)
            try client.start(params, request, showsAll: params == Self.all)
        case 3:
            guard let name else { return }
            client.stop(name)
        case 4, 5:
            guard let name, !client.showsAll(name), !client.isRanking(name) else { return }
            let text = query(&random)
            let request = try WatchClient.request(world.name, text, world.opening.limits)
            client.move(name, text, request.query)
        case 6 where random.oneIn(3):
            client.session.end(ServiceFailure(.unauthorized, "revoked")) { _ in false }
        default:
            guard let name else { return }
            // What was answered before is in what is told before the answer.
            let before = answered.withLock { $0 }
            let resyncs = client.resyncs(name)
            guard client.sync(name) else { return }
            client.expectWhole(name, since: resyncs)
            guard client.showsAll(name) else { return }
            client.expect(name, before)
        }
    }
}

/// A connection: one thread takes what its session tells, another one makes requests.
///
/// `@unchecked Sendable`: the lock guards what the threads share.
private final class SessionClient: @unchecked Sendable {
    let session: WatchSession
    private let fault: @Sendable (String) -> Void
    private let lock = NSLock()
    private var states: [String: WatchedState] = [:]
    private var params: [String: String] = [:]
    private var all: Set<String> = []
    private var rankings: Set<String> = []
    private let bell: DispatchSemaphore
    private let isOver = Atomic(false)
    private let ended = DispatchSemaphore(value: 0)

    init(_ hub: WatchHub, fault: @escaping @Sendable (String) -> Void) {
        self.fault = fault
        let bell = DispatchSemaphore(value: 0)
        self.bell = bell
        session = hub.session(of: "me") { bell.signal() }
        Thread.detachNewThread { self.read() }
    }

    private func locked<Result>(_ body: () throws -> Result) rethrows -> Result {
        lock.lock()
        defer { lock.unlock() }
        return try body()
    }

    /// Takes everything whenever the session wakes it, and at no other time.
    private func read() {
        defer { ended.signal() }
        while true {
            bell.wait()
            if isOver.load(ordering: .acquiring) { return }
            while take() {}
        }
    }

    private func take() -> Bool {
        locked {
            var writer = JSONWriter()
            guard session.next(into: &writer) else { return false }
            guard let message = try? JSONValue(parsing: writer.bytes),
                let params = message["params"], let watch = params["watch"]?.string
            else {
                fault("not a notification: \(String(decoding: writer.bytes, as: UTF8.self))")
                return true
            }
            if states[watch] == nil { fault("nobody watches: \(message.text)") }
            states[watch]?.apply(message["method"]!.string!, params)
            for text in states[watch]?.faults ?? [] { fault("\(watch): \(text)") }
            if states[watch]?.end != nil { states[watch] = nil }
            return true
        }
    }

    var names: [String] { locked { states.keys.sorted() } }

    func showsAll(_ name: String) -> Bool { locked { all.contains(name) } }

    func isRanking(_ name: String) -> Bool { locked { rankings.contains(name) } }

    func start(_ text: String, _ request: WatchRequest, showsAll: Bool) throws {
        let start = try session.start(request, until: nil)
        locked {
            states[start.name] = WatchedState()
            params[start.name] = text
            if showsAll { all.insert(start.name) }
            if request.query.isRanking { rankings.insert(start.name) }
        }
        session.open(start.name)
    }

    func stop(_ name: String) {
        locked {
            // It may have ended by itself.
            try? session.stop(name)
            states[name] = nil
        }
    }

    func move(_ name: String, _ text: String, _ query: WatchQuery) {
        do {
            _ = try session.move(name, to: query, until: nil)
        } catch {
            let isThere = locked { states[name] != nil }
            // The end may not have been told yet.
            if isThere, error.reason != .invalidInputData, error.reason != .temporarilyUnavailable {
                fault("\(name): \(error)")
            }
            return
        }
        locked { params[name] = text }
        session.open(name)
    }

    /// Waits until a watch is present; false if it is gone.
    func sync(_ name: String) -> Bool {
        let done = DispatchSemaphore(value: 0)
        let isThere = Atomic(false)
        session.sync(name) { result in
            if case .success = result { isThere.store(true, ordering: .relaxed) }
            done.signal()
        }
        done.wait()
        return isThere.load(ordering: .relaxed)
    }

    /// How often a watch has begun again.
    func resyncs(_ name: String) -> Int { locked { states[name]?.resyncs.count ?? 0 } }

    /// A watch that is present has told all of its snapshot, unless it has begun again since.
    func expectWhole(_ name: String, since resyncs: Int) {
        locked {
            guard let state = states[name], state.resyncs.count == resyncs else { return }
            if state.isPartial || !state.hasBegun { fault("\(name) is not whole") }
        }
    }

    /// Compares what a watch shows with what was answered before it was present.
    func expect(_ name: String, _ answered: [String: Int?]) {
        locked {
            guard let state = states[name] else { return }
            if !state.hasBegun { fault("\(name) has nothing to show") }
            for (id, number) in answered {
                guard let number else { continue }
                // A later write may have deleted it; a number that is shown never goes back.
                guard let text = state.objects[id], let shown = try? JSONValue(parsing: text) else {
                    continue
                }
                if (shown["n"]?.int ?? 0) < number {
                    fault("\(name) shows \(text) after \(number) was answered")
                }
            }
        }
    }

    /// Compares what each watch shows with what is true, when nothing happens any more.
    func compare(_ answer: (String) throws -> [JSONValue]) throws {
        for name in names where sync(name) {
            try locked {
                guard let state = states[name], let text = params[name] else { return }
                let expected = try answer(text).map(\.text)
                let shown =
                    rankings.contains(name) ? state.list.map(\.text) : state.objects.values.sorted()
                if shown != (rankings.contains(name) ? expected : expected.sorted()) {
                    fault("\(name) \(text): \(shown) instead of \(expected)")
                }
            }
        }
    }

    func close() {
        session.close()
        isOver.store(true, ordering: .releasing)
        bell.signal()
        ended.wait()
    }
}
