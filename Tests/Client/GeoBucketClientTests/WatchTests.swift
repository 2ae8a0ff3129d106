import JSONText
import Synchronization
import TestSupport
import Testing

@testable import GeoBucketClient

/// How a watch keeps going, and what its loop sees, with a service that the test plays.
@Suite(.timeLimit(.minutes(2))) struct WatchTests {
    private typealias M = WatchMessages

    private static func with(
        _ change: (inout ClientConfiguration) -> Void = { _ in },
        _ body: @escaping @Sendable (ScriptedService, Bucket) async throws -> Void
    ) async throws {
        let configuration = ConnectionTests.configuration {
            // A busy machine is no reason for a failure.
            $0.requestTimeout = .seconds(300)
            change(&$0)
        }
        try await ScriptedService.with { service in
            let address = ConnectionTests.address(service.port)
            try await GeoBucketClient.with(address, configuration: configuration) { client in
                try await body(service, client.bucket("couriers"))
            }
        }
    }

    /// Answers the next start and tells these objects.
    @discardableResult
    private static func begin(
        _ service: ScriptedService, _ objects: [String], change: Int, watch: String = "w1"
    ) async throws -> ScriptedService.Request {
        let start = try await service.request("watch.start")
        service.answer(start, #"{"watch":"\#(watch)"}"#)
        service.send(
            start.connection, "watch.snapshot",
            M.snapshot(objects, change: change, watch: watch))
        return start
    }

    @Test func `A loop gets the snapshot, then the events`() async throws {
        try await Self.with { service, bucket in
            let query = BucketQuery(clause: .equals("on", value: true))
            query.fields = ["n"]
            query.sort(byAsc: "n")
            let loop = bucket.watch(query, leaveRadius: 250.5, interval: .milliseconds(20))
                .makeAsyncIterator()
            let start = try await Self.begin(service, [M.object("c1", 1)], change: 3)
            #expect(
                start.params.text
                    == #"{"bucket":"couriers","bucketQuery":{"clause":{"type":"eq","field":"on","value":true},"orderBy":[{"field":"n","descending":false}]},"fields":["n"],"leaveRadius":250.5,"intervalMilliseconds":20}"#
            )
            var state = try #require(try await loop.next())
            #expect(
                state.objects.map(\.uuid) == ["c1"]
                    && state.objects[id: "c1"]?.int(forKey: "n") == 1)
            service.send(
                start.connection, "watch.events",
                M.events([M.put(M.object("c2", 0)), M.put(M.object("c1", 5), "change")], change: 4))
            state = try #require(try await loop.next())
            #expect(state.events.map(\.kind) == [.entered, .changed])
            #expect(state.objects.ids == ["c2", "c1"] && state.change == 4)
        }
    }

    @Test func `Notifications stand between the answers to other requests`() async throws {
        try await Self.with { service, bucket in
            let loop = bucket.watch().makeAsyncIterator()
            let start = try await service.request("watch.start")
            async let count = bucket.count()
            let ask = try await service.request("bucket.count")
            // In one piece: the answer to the start, the snapshot, the count, events of a watch that
            // nobody has, events.
            let lines = [
                #"{"jsonrpc":"2.0","id":\#(start.id),"result":{"watch":"w1"}}"#,
                #"{"method":"watch.snapshot","jsonrpc":"2.0","params":\#(M.snapshot([], change: 1))}"#,
                #"{"jsonrpc":"2.0","id":\#(ask.id),"result":{"count":7}}"#,
                #"{"jsonrpc":"2.0","method":"watch.events","params":\#(M.events([M.put(M.object("c9", 1))], change: 2, watch: "w9"))}"#,
                #"{"jsonrpc":"2.0","method":"watch.events","params":\#(M.events([M.put(M.object("c1", 1))], change: 3))}"#,
            ]
            service.send(start.connection, lines.joined(separator: "\n"))
            #expect(try await count == 7)
            var ids: [String] = []
            while ids.isEmpty { ids = try #require(try await loop.next()).objects.ids }
            #expect(ids == ["c1"] && start.connection == ask.connection)
        }
    }

    @Test func `Ending the loop ends the watch, the connection goes on`() async throws {
        try await Self.with { service, bucket in
            async let first: Int = {
                for try await state in bucket.watch() { return state.objects.count }
                return -1
            }()
            let start = try await Self.begin(service, [M.object("c1", 1)], change: 1)
            #expect(try await first == 1)
            let stop = try await service.request("watch.stop")
            #expect(stop.params == .object(["watch": .string("w1")]))
            #expect(stop.connection == start.connection)
            service.send(start.connection, "watch.events", M.events([], change: 2))
            service.answer(stop, "{}")
            async let pong: Void = bucket.client.ping()
            service.answer(try await service.request("server.ping"), #""pong""#)
            try await pong
        }
    }

    @Test func `A loop that ends before the start is answered ends the watch all the same`()
        async throws
    {
        try await Self.with { service, bucket in
            let task = Task { for try await _ in bucket.watch() {} }
            let start = try await service.request("watch.start")
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
            service.answer(start, #"{"watch":"w7"}"#)
            let stop = try await service.request("watch.stop")
            #expect(stop.params["watch"] == .string("w7"))
        }
    }

    @Test func `A cancelled task ends its loop with an error, and its watch`() async throws {
        try await Self.with { service, bucket in
            let task = Task { for try await _ in bucket.watch() {} }
            try await Self.begin(service, [], change: 1)
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
            _ = try await service.request("watch.stop")
        }
    }

    @Test func `A lost connection is made anew, and the watch goes on by its token`() async throws {
        try await Self.with { service, bucket in
            let loop = bucket.watch().makeAsyncIterator()
            let first = try await Self.begin(service, [M.object("c1", 1)], change: 5)
            #expect(try await loop.next()?.isConnected == true)
            service.hangUp(first.connection)
            #expect(try await loop.next()?.isConnected == false)
            let second = try await service.request("watch.start")
            #expect(second.params["resume"] == .string("r5") && second.connection == 1)
            service.answer(second, #"{"watch":"w1","resumed":true}"#)
            service.send(
                second.connection, "watch.events",
                M.events([M.leave("c1"), M.leave("c8"), M.put(M.object("c2", 1))], change: 9))
            var state = try #require(try await loop.next())
            while state.change < 9 { state = try #require(try await loop.next()) }
            #expect(state.objects.ids == ["c2"] && state.isConnected && state.isComplete)
            #expect(first.params["resume"] == nil)
        }
    }

    @Test func `A service that stops is awaited; a token that it does not take brings a snapshot`()
        async throws
    {
        try await Self.with { service, bucket in
            let loop = bucket.watch().makeAsyncIterator()
            let first = try await Self.begin(
                service, [M.object("c1", 1), M.object("c2", 1)], change: 5)
            _ = try await loop.next()
            service.send(
                first.connection, "watch.end",
                #"{"watch":"w1","error":\#(ScriptedService.error("TEMPORARY_UNAVAILABLE_ERROR"))}"#)
            let second = try await service.request("watch.start")
            #expect(second.params["resume"] == .string("r5"))
            service.answer(second, #"{"watch":"w2","resumed":false}"#)
            service.send(
                second.connection, "watch.snapshot",
                M.snapshot([M.object("c2", 1), M.object("c3", 1)], change: 2, watch: "w2"))
            var state = try #require(try await loop.next())
            while !state.isSnapshot { state = try #require(try await loop.next()) }
            #expect(state.events.map(\.id) == ["c1", "c3"] && state.change == 2)
            #expect(state.events.map(\.kind) == [.left(.unseen), .entered])
        }
    }

    @Test func `A watch that the service refuses or ends for good throws its reason`() async throws
    {
        try await Self.with { service, bucket in
            let refused = Task { for try await _ in bucket.watch() {} }
            service.refuse(try await service.request("watch.start"), "INVALID_INPUT_DATA")
            await #expect(throws: ClientFailure.self) { try await refused.value }

            let loop = bucket.watch().makeAsyncIterator()
            let start = try await Self.begin(service, [], change: 1)
            _ = try await loop.next()
            service.send(
                start.connection, "watch.end",
                #"{"watch":"w1","error":\#(ScriptedService.error("NOT_ALLOWED"))}"#)
            let outcome = await outcome { _ = try await loop.next() }
            #expect(outcome == "NOT_ALLOWED")
            #expect(try await loop.next() == nil)
        }
    }

    @Test func `A start that is put off is tried again`() async throws {
        try await Self.with { service, bucket in
            let loop = bucket.watch().makeAsyncIterator()
            for code in ["TOO_MANY_REQUESTS", "TEMPORARY_UNAVAILABLE_ERROR"] {
                service.refuse(try await service.request("watch.start"), code)
            }
            try await Self.begin(service, [M.object("c1", 1)], change: 1)
            #expect(try await loop.next()?.objects.count == 1)
        }
    }

    @Test func `A watch that never begins says why, in the time of a call`() async throws {
        let configuration = ConnectionTests.configuration { $0.retryTime = .milliseconds(50) }
        let client = ServiceClient(ConnectionTests.address(1), configuration: configuration)
        let loop = client.bucket("couriers").watch().makeAsyncIterator()
        let failure = await #expect(throws: ClientFailure.self) { try await loop.next() }
        #expect("\(failure!)".contains("127.0.0.1:1"))
    }

    @Test func `A closed client ends its watches`() async throws {
        try await Self.with { service, bucket in
            let loop = bucket.watch().makeAsyncIterator()
            try await Self.begin(service, [], change: 1)
            _ = try await loop.next()
            await bucket.client.close()
            let error = await #expect(throws: ClientFailure.self) {
                while try await loop.next() != nil {}
            }
            #expect(error == .closed)
        }
    }

    @Test func `A slow loop gets what it missed as one state`() async throws {
        try await Self.with { service, bucket in
            let watch = bucket.watch()
            let loop = watch.makeAsyncIterator()
            let start = try await Self.begin(service, [M.object("c0", 0)], change: 1)
            _ = try await loop.next()
            for change in 2...500 {
                let event = M.put(M.object("c\(change % 3)", change), "change")
                service.send(start.connection, "watch.events", M.events([event], change: change))
            }
            // The answer stands behind all of them.
            async let synced = watch.sync()
            service.answer(try await service.request("watch.sync"), #"{"change":600}"#)
            #expect(try await synced == 600)
            let state = try #require(try await loop.next())
            #expect(state.events.map(\.id).sorted() == ["c0", "c1", "c2"])
            #expect(state.events.map(\.kind).filter { $0 == .changed }.count == 1)
            #expect(state.change == 600 && state.resume == "r500")
            #expect(state.objects[id: "c2"]?.int(forKey: "n") == 500)
        }
    }

    @Test func `A watch moves, and moves again if its connection is lost meanwhile`() async throws {
        try await Self.with { service, bucket in
            let watch = bucket.watch()
            let loop = watch.makeAsyncIterator()
            let start = try await Self.begin(service, [M.object("c1", 1)], change: 1)
            _ = try await loop.next()
            let next = BucketQuery(clause: .equals("n", value: 2))
            next.sort(byDesc: "n")
            next.fields = ["ignored"]
            async let moved = watch.move(to: next)
            let first = try await service.request("watch.move")
            #expect(
                first.params.text
                    == #"{"watch":"w1","bucketQuery":{"clause":{"type":"eq","field":"n","value":2},"orderBy":[{"field":"n","descending":true}]}}"#
            )
            service.hangUp(start.connection)
            let again = try await service.request("watch.start")
            #expect(again.params["bucketQuery"]?["clause"]?["type"]?.string == "all")
            service.answer(again, #"{"watch":"w5","resumed":true}"#)
            let second = try await service.request("watch.move")
            #expect(second.params["watch"] == .string("w5"))
            service.answer(second, #"{"change":9}"#)
            service.send(
                second.connection, "watch.events",
                M.events(
                    [M.leave("c1", "query"), M.put(M.object("c2", 2)), M.put(M.object("c3", 3))],
                    change: 9, watch: "w5"))
            #expect(try await moved == 9)
            var state = try #require(try await loop.next())
            while state.change < 9 { state = try #require(try await loop.next()) }
            #expect(state.objects.ids == ["c3", "c2"])
            #expect(state.events.map(\.kind) == [.left(.query), .entered, .entered])
            // From now on a start has the new query.
            service.hangUp(second.connection)
            let third = try await service.request("watch.start")
            #expect(third.params["bucketQuery"]?["clause"]?["type"]?.string == "eq")
        }
    }

    @Test func `A move that is refused leaves the watch as it is`() async throws {
        try await Self.with { service, bucket in
            let watch = bucket.watch()
            let loop = watch.makeAsyncIterator()
            let start = try await Self.begin(service, [M.object("c1", 1)], change: 1)
            async let refusal = outcome { try await watch.move(to: BucketQuery(clause: .all)) }
            service.refuse(try await service.request("watch.move"), "INVALID_INPUT_DATA")
            #expect(await refusal == "INVALID_INPUT_DATA")
            service.send(start.connection, "watch.events", M.events([M.leave("c1")], change: 2))
            var state = try #require(try await loop.next())
            while state.change < 2 { state = try #require(try await loop.next()) }
            #expect(state.objects.isEmpty)
        }
    }

    @Test func `Calls about a watch without a loop end at their timeout`() async throws {
        let hasty: (inout ClientConfiguration) -> Void = {
            $0.requestTimeout = .milliseconds(100)
        }
        try await Self.with(hasty) { _, bucket in
            await #expect(throws: ClientFailure.timedOut) { try await bucket.watch().sync() }
        }
    }

    @Test func `A connection that has gone silent is found out and made anew`() async throws {
        let anxious: (inout ClientConfiguration) -> Void = {
            $0.watchCheckTime = .milliseconds(50)
            $0.requestTimeout = .milliseconds(500)
        }
        try await Self.with(anxious) { service, bucket in
            let loop = bucket.watch().makeAsyncIterator()
            try await Self.begin(service, [], change: 1)
            _ = try await loop.next()
            // The test answers no ping.
            var second = try await service.request("watch.start")
            while second.connection == 0 { second = try await service.request("watch.start") }
            #expect(second.params["resume"] == .string("r1"))
        }
    }

    @Test func `A second loop ends the first and starts anew`() async throws {
        try await Self.with { service, bucket in
            let watch = bucket.watch()
            let first = watch.makeAsyncIterator()
            try await Self.begin(service, [M.object("c1", 1)], change: 1)
            _ = try await first.next()
            let second = watch.makeAsyncIterator()
            #expect(try await first.next() == nil)
            // Answers come in the order of the requests, so this one is the first.
            let stop = try await service.request("watch.stop")
            #expect(stop.params["watch"] == .string("w1"))
            service.answer(stop, "{}")
            let start = try await Self.begin(service, [], change: 2, watch: "w2")
            #expect(start.params["resume"] == nil)
            #expect(try await second.next()?.objects.isEmpty == true)
        }
    }

    @Test func `Models are watched like objects; one that is none ends the loop`() async throws {
        struct Courier: Codable, Sendable { var n: Int }
        try await Self.with { service, bucket in
            let loop = bucket.watch(of: Courier.self, resume: "r0").makeAsyncIterator()
            let start = try await Self.begin(service, [M.object("c1", 4)], change: 1)
            #expect(start.params["resume"] == .string("r0"))
            #expect(try await loop.next()?.objects.map(\.model.n) == [4])
            service.send(
                start.connection, "watch.events",
                M.events([M.put(#"{"_id":"c2","n":"four"}"#)], change: 2))
            let error = await #expect(throws: JSONMismatch.self) { try await loop.next() }
            #expect(error?.path == "c2.n")
        }
    }

    @Test func `Moving centres and pairs are sent in the form of the protocol`() async throws {
        try await Self.with { service, bucket in
            let riders = bucket.client.bucket("riders")
            let query = BucketQuery(
                clause: .geoDistance(
                    "location", center: MovingCenter(of: "r1", in: riders, field: "at"),
                    radius: 500,
                    putDistanceInto: "d"))
            let watch = bucket.watchPairs(
                query, with: riders, field: "at", clause: .equals("free", value: true),
                radius: 200, leaveRadius: 230)
            let loop = watch.makeAsyncIterator()
            let start = try await service.request("watch.start")
            #expect(
                start.params.text
                    == #"{"bucket":"couriers","bucketQuery":{"clause":{"type":"geodistance","field":"location","center":{"_type":"object","bucket":"riders","_id":"r1","field":"at"},"radius":500.0,"putDistanceInto":"d"}},"pairs":{"bucket":"riders","field":"at","clause":{"type":"eq","field":"free","value":true},"radius":200.0,"leaveRadius":230.0}}"#
            )
            service.answer(start, #"{"watch":"w1"}"#)
            service.send(
                start.connection, "watch.events",
                M.events(
                    [#"{"event":"meet","ids":["c7","r3"],"distance":153.204113}"#], change: 1))
            let state = try #require(try await loop.next())
            #expect(
                state.objects.first == Pair(first: "c7", second: "r3", distance: 153.204113))
        }
    }
}
