import BackendContract
import Dispatch
import Foundation
import Glibc
import JSONText
import Logging
import Objects
import QueryLanguage
import Synchronization
import TestSupport
import Testing

@testable import LiveQueries

/// What a burst of writes, a slow matcher and an endless stream may cost.
@Suite(.timeLimit(.minutes(5))) struct BoundTests {
    private static func text(_ number: Int, _ bytes: Int = 1) -> String {
        #"{"n":\#(number),"text":"\#(String(repeating: "x", count: bytes))"}"#
    }

    /// Returns when what a thread does waits for another thread.
    ///
    /// - Parameters:
    ///   - run: runs a job on the thread, and behind it what the thread is to do.
    ///   - body: gives the thread, which is busy meanwhile, more to do.
    private static func untilItWaits(
        _ run: (@escaping @Sendable () -> Void) -> Void, _ body: () throws -> Void = {}
    ) throws {
        let begun = DispatchSemaphore(value: 0)
        let isGiven = Atomic(false)
        let link = Mutex<String?>(nil)
        run {
            let own = try? FileManager.default.destinationOfSymbolicLink(
                atPath: "/proc/thread-self")
            link.withLock { $0 = own }
            begun.signal()
            while !isGiven.load(ordering: .acquiring) { sched_yield() }
        }
        begun.wait()
        do {
            defer { isGiven.store(true, ordering: .releasing) }
            try body()
        }
        let path = "/proc/\(try #require(link.withLock { $0 }))/stat"
        // The state stands behind the name, which is in parentheses.
        while let text = try? String(contentsOfFile: path, encoding: .utf8),
            text.split(separator: ")").last?.hasPrefix(" S") == false
        {
            sched_yield()
        }
    }

    // MARK: Notifications

    @Test func `events that are longer than replyBytes are told as a snapshot in parts`()
        async throws
    {
        var limits = Limits()
        limits.replyBytes = 4_096
        try await WatchWorld.with(limits: limits) { [limits] world in
            let client = WatchClient(world.hub, replyBytes: limits.replyBytes)
            let watch = try client.start(world.name, "{}", limits: limits).name
            _ = try client.settle(watch)
            // Just short enough for one notification.
            let few = try (0..<4).map { try world.object("a\($0)", Self.text($0, 600)) }
            try world.submit(.putMany(bucket: world.name, objects: few))
            _ = try client.settle(watch)
            #expect(client.states[watch]!.resyncs == [])
            let many = try (0..<40).map { try world.object("b\($0)", Self.text($0, 600)) }
            try world.submit(.putMany(bucket: world.name, objects: many))
            _ = try client.settle(watch)
            let state = client.states[watch]!
            #expect(state.resyncs == ["slow"] && state.faults == [])
            #expect(state.objects.count == 44)
        }
    }

    /// Found by `SessionTests` with seed 4, once in many runs.
    @Test func `a watch that is moved while it begins again shows what it was moved to`()
        async throws
    {
        try await WatchWorld.with { world in
            for number in 0..<4 { try world.put("a\(number)", Self.text(number)) }
            let client = WatchClient(world.hub)
            let watch = try client.start(world.name, "{}").name
            _ = try client.settle(watch)
            let session = client.session
            let number = try session.withWatch(watch) { watch, _ in watch.number }
            let one = try WatchClient.request(
                world.name,
                #"{"bucketQuery":{"clause":{"type":"eq","field":"n","value":1}}}"#, Limits()
            ).query
            // The move waits for the matcher before the watch does that begins again.
            let (gate, moved) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
            world.hub.matcher.thread.async { gate.wait() }
            try Self.untilItWaits { job in
                Thread.detachNewThread {
                    job()
                    _ = try? session.move(watch, to: one, until: nil)
                    moved.signal()
                }
            }
            // One thread is left, so what the job is followed by runs on its thread.
            let other = DispatchSemaphore(value: 0)
            world.hub.lists.submit(for: "another") { other.wait() }
            defer { other.signal() }
            try Self.untilItWaits({ world.hub.lists.submit(for: session.owner, $0) }) {
                session.resync(number, .slow)
                try client.drain()
            }
            gate.signal()
            moved.wait()
            session.open(watch)
            _ = try client.settle(watch)
            let state = client.states[watch]!
            #expect(state.resyncs == ["slow"] && state.faults == [])
            #expect(state.objects.keys.sorted() == ["a1"])
        }
    }

    @Test func `one event is told however long it is`() async throws {
        var limits = Limits()
        limits.replyBytes = 1_024
        try await WatchWorld.with(limits: limits) { [limits] world in
            let client = WatchClient(world.hub, replyBytes: limits.replyBytes)
            let watch = try client.start(world.name, "{}", limits: limits).name
            _ = try client.settle(watch)
            try world.put("a1", Self.text(1, 5_000))
            _ = try client.settle(watch)
            #expect(client.states[watch]!.resyncs == [])
            #expect(client.states[watch]!.objects.count == 1)
        }
    }

    @Test func `a ranking whose steps are longer than replyBytes is told as a snapshot in parts`()
        async throws
    {
        var limits = Limits()
        limits.replyBytes = 4_096
        try await WatchWorld.with(limits: limits) { [limits] world in
            let client = WatchClient(world.hub, replyBytes: limits.replyBytes)
            let watch = try client.start(
                world.name,
                #"{"bucketQuery":{"orderBy":"n"},"bestEffortLimit":50,"intervalMilliseconds":0}"#,
                limits: limits
            ).name
            for round in 1...3 {
                let many = try (0..<60).map {
                    try world.object("a\($0)", Self.text(($0 * 7 + round) % 60, 300))
                }
                try world.submit(.putMany(bucket: world.name, objects: many))
                _ = try client.settle(watch)
                #expect(client.states[watch]!.resyncs.count == round)
                #expect(client.states[watch]!.faults == [])
                #expect(client.states[watch]!.list.count == 50)
            }
        }
    }

    @Test func `the end of a bucket of many objects is told within replyBytes`() async throws {
        var limits = Limits()
        limits.watchObjects = 30_000
        limits.replyBytes = 100_000
        try await WatchWorld.with(limits: limits) { [limits] world in
            for part in 0..<20 {
                let many = try (0..<200).map {
                    try world.object("a\(part * 200 + $0)", Self.text($0))
                }
                try world.submit(.putMany(bucket: world.name, objects: many))
            }
            let client = WatchClient(world.hub, replyBytes: limits.replyBytes)
            let watch = try client.start(world.name, "{}", limits: limits).name
            _ = try client.settle(watch)
            #expect(client.states[watch]!.objects.count == 4_000)
            try world.submit(.deleteBucket(world.name))
            _ = try client.settle(watch)
            #expect(client.states[watch]!.objects.isEmpty)
            #expect(client.states[watch]!.faults == [])
            try world.put("a1", Self.text(1))
            _ = try client.settle(watch)
            #expect(client.states[watch]!.objects.count == 1)
        }
    }

    // MARK: Falling behind

    @Test func `watches begin again when the matcher is too far behind, and lose nothing`()
        async throws
    {
        try await WatchWorld.with { world in
            var limits = world.opening.limits
            limits.watchBacklog = 5
            let hub = WatchHub(
                backend: world.backend, limits: limits, logger: world.opening.logger)
            defer { hub.stop() }
            let client = WatchClient(hub)
            try world.put("a0", Self.text(0))
            let set = try client.start(world.name, #"{"fields":["n"]}"#).name
            let ranking = try client.start(
                world.name,
                #"{"bucketQuery":{"orderBy":"n"},"bestEffortLimit":3,"intervalMilliseconds":0}"#
            ).name
            for watch in [set, ranking] { _ = try client.settle(watch) }
            for round in 1...3 {
                let release = DispatchSemaphore(value: 0)
                hub.matcher.thread.async { release.wait() }
                for number in 0..<30 { try world.put("a\(number)", Self.text(number + round)) }
                try world.delete("a\(round)")
                release.signal()
                for watch in [set, ranking] { _ = try client.settle(watch) }
                #expect(client.states[set]!.resyncs.count == round)
                #expect(client.states[set]!.faults == [])
                #expect(client.states[set]!.objects.count == 29)
                #expect(client.states[set]!.objects["a\(round)"] == nil)
                #expect(client.states[set]!.objects["a9"]!.contains("\(9 + round)"))
                #expect(client.states[ranking]!.list.count == 3)
                #expect(client.states[ranking]!.faults == [])
                try world.put("a\(round)", Self.text(0))
            }
        }
    }

    // MARK: Waiting

    @Test func `watch.sync waits for what came before it, while writes go on for ever`()
        async throws
    {
        try await WatchWorld.with { world in
            let client = WatchClient(world.hub)
            var watches: [String] = []
            for limit in 1...10 {
                for params in [
                    #"{"bucketQuery":{"clause":{"type":"range","field":"n","lowerLimit":\#(limit)}}}"#,
                    #"{"bucketQuery":{"orderBy":"n"},"bestEffortLimit":\#(limit),"intervalMilliseconds":0}"#,
                ] {
                    watches.append(try client.start(world.name, params).name)
                }
            }
            let isOver = Mutex(false)
            let done = DispatchSemaphore(value: 0)
            // Any thread may submit a write.
            nonisolated(unsafe) let world = world
            let name = world.name
            let objects = try (0..<50).map { try world.object("a\($0 % 10)", Self.text($0)) }
            DispatchQueue.global().async {
                var number = 0
                while !isOver.withLock({ $0 }) {
                    number += 1
                    _ = try? world.submit(
                        .put(bucket: name, object: objects[number % 50], condition: .none))
                }
                done.signal()
            }
            defer {
                isOver.withLock { $0 = true }
                done.wait()
            }
            for watch in watches + watches {
                _ = try client.settle(watch)
                #expect(client.states[watch]!.faults == [])
            }
        }
    }

    // MARK: Many

    @Test func `a connection may have as many watches as watchesPerConnection, however many`()
        async throws
    {
        var limits = Limits()
        limits.watchesPerConnection = 10_000
        try await WatchWorld.with(limits: limits) { [limits] world in
            func params(_ number: Int) -> String {
                let value = number % 100
                return #"{"bucketQuery":{"clause":{"type":"eq","field":"n","value":\#(value)}}}"#
            }
            let client = WatchClient(world.hub)
            for number in 0..<10_000 {
                _ = try client.start(world.name, params(number), limits: limits)
            }
            #expect(throws: ServiceFailure.self) {
                try client.start(world.name, params(0), limits: limits)
            }
            for number in 0..<100 { try world.put("a\(number)", Self.text(number)) }
            _ = try client.settle("w10000")
            for name in ["w1", "w5000"] { _ = try client.settle(name) }
            try client.drain()
            #expect(client.states.values.allSatisfy { $0.objects.count == 1 && $0.faults == [] })
            client.session.close()
            world.hub.look()
            #expect(world.hub.statistics().watches == 0)
        }
    }

    @Test func `a token of another store, of another bucket or of nobody begins with a snapshot`()
        async throws
    {
        try await WatchWorld.with { world in
            try world.put("a1", Self.text(1))
            let client = WatchClient(world.hub)
            let watch = try client.start(world.name, "{}").name
            _ = try client.settle(watch)
            let token = client.states[watch]!.resume!
            let other = BucketName(trusted: "other")
            func resumes(_ bucket: BucketName, _ token: String) throws -> Bool? {
                let start = try client.start(bucket, #"{"resume":"\#(token)"}"#)
                _ = try client.settle(start.name)
                #expect(client.states[start.name]!.faults == [])
                #expect(client.states[start.name]!.objects.count == (bucket == other ? 0 : 1))
                return start.resumed
            }
            #expect(try resumes(other, token) == false)
            for text in ["", "A", String(repeating: "A", count: 100_000), token + "A", "%&/ü"] {
                #expect(try resumes(world.name, text) == false)
            }
            // A fresh store has a secret of its own.
            try world.restart {
                for suffix in ["", "-wal", "-shm"] { unlink(world.path + suffix) }
            }
            try world.put("a1", Self.text(1))
            let fresh = WatchClient(world.hub)
            let start = try fresh.start(world.name, #"{"resume":"\#(token)"}"#)
            #expect(start.resumed == false)
            _ = try fresh.settle(start.name)
            #expect(fresh.states[start.name]!.objects.count == 1)
        }
    }
}
