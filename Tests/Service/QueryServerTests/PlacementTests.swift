import JSONText
import LiveQueries
import Logging
import Objects
import QueryLanguage
import ServiceDesk
import TestSupport
import Testing

/// What a node says of buckets that others hold, without asking them.
@Suite(.timeLimit(.minutes(5))) struct PlacementTests {
    private static let addresses = ["db0:4362", "db1:4362", "db2:4362"]

    private static func with(
        _ placement: TestPlacement, access: AccessControl? = nil,
        _ body: (AsyncDesk, QueryService, PlacedBackend) async throws -> Void
    ) async throws {
        let backend = PlacedBackend(placement)
        let limits = Limits()
        let service = QueryService(backend: backend, limits: limits, access: access)
        try await Workers.with(limits) { workers in
            let logger = Logger(label: "test") { _ in LogLines() }
            try await body(
                AsyncDesk(Desk(service: service, workers: workers, logger: logger)), service,
                backend)
        }
    }

    /// Another one each time: a caller's watches belong to one service.
    private static var caller: Caller { Caller(address: "a1") }

    private static func call(
        _ desk: AsyncDesk, _ method: MethodName, _ params: String, from caller: Caller = caller
    ) async throws(RPCFailure) -> JSONValue {
        let request = #"{"jsonrpc":"2.0","id":1,"method":"\#(method.text)","params":\#(params)}"#
        let text = try await desk.answer(
            Array(request.utf8), from: caller, maximumBytes: 1_000_000)
        let found = try? JSONParser.reading(text ?? []) { view in
            Result { () throws(RPCFailure) in
                if let failure = view["error"].flatMap(RPCFailure.init) { throw failure }
                return view["result"].flatMap { try? JSONValue(parsing: Array($0.text)) }
            }
        }
        guard let result = try found?.get() else {
            throw .invalidRequest("the answer cannot be read")
        }
        return result
    }

    private static func failure(
        _ body: () async throws(RPCFailure) -> Void
    ) async -> RPCFailure? {
        do throws(RPCFailure) {
            try await body()
            return nil
        } catch {
            return error
        }
    }

    private static func refusalOfWatch(
        by desk: AsyncDesk, _ params: String = #"{"bucket":"shops"}"#
    ) async -> RPCFailure? {
        await failure { () throws(RPCFailure) in
            let request = try? JSONParser.reading(Array(params.utf8)) { view in
                var members = MemberReader(params: view)
                let bucket = BucketName(trusted: try members.string("bucket"))
                return try WatchRequest(bucket: bucket, from: &members, limits: Limits())
            }
            guard let request else { throw .invalidRequest("it is no watch") }
            try await desk.startWatch(request, from: caller)
        }
    }

    private static let pairs =
        #"{"bucket":"shops","bucketQuery":{"clause":{"type":"geodistance","field":"p","#
        + #""center":{"_type":"point","lat":0,"lon":0},"radius":9}},"#
        + #""pairs":{"bucket":"parks","field":"p","radius":9}}"#

    @Test func `A stranger learns of no node, whoever has logged in of all`() async throws {
        let token = Token()
        var file = TokenFile()
        file.add(.init(token, try Grant(principal: "rita", role: .read), created: 0))
        let access = AccessControl(tokens: file)
        try await Self.with(TestPlacement(copies: 2, Self.addresses), access: access) {
            desk, service, _ in
            let caller = Caller(address: "a2")
            func nodes() async throws -> JSONValue? {
                try await Self.call(desk, .info, "{}", from: caller)["nodes"]
            }
            #expect(try await nodes() == nil)
            _ = try service.logIn(token.text, caller)
            #expect(try await nodes()?.array?.count == Self.addresses.count)
            _ = access.replace(TokenFile())
            #expect(try await nodes() == nil)
        }
    }

    @Test func `A client learns of all nodes, and of those that are to hold a bucket`() async throws
    {
        let placement = TestPlacement(copies: 2, Self.addresses + [""])
        placement.place("shops", on: [2, 1, 0], isHeld: false)
        try await Self.with(placement) { desk, _, _ in
            let info = try await Self.call(desk, .info, "{}")
            // One that has just started has no address yet.
            #expect(info["nodes"]?.array?.compactMap(\.string) == Self.addresses)
            for (bucket, addresses) in [
                ("shops", ["db2:4362", "db1:4362"]), ("others", ["db0:4362", "db1:4362"]),
            ] {
                let route = try await Self.call(desk, .route, #"{"bucket":"\#(bucket)"}"#)
                #expect(route["nodes"]?.array?.compactMap(\.string) == addresses, "\(bucket)")
            }
        }
    }

    @Test func `A watch of a bucket that others hold is refused with their addresses`()
        async throws
    {
        let placement = TestPlacement(copies: 2, Self.addresses)
        placement.place("shops", on: [2, 1, 0], isHeld: false)
        try await Self.with(placement) { desk, _, _ in
            let failure = await Self.refusalOfWatch(by: desk)
            #expect(failure?.errorCode == "OPERATION_NOT_ALLOWED" && failure?.path == "bucket")
            #expect(failure?.message.hasSuffix("watch it at db2:4362 or db1:4362") == true)
        }
    }

    @Test func `A watch of a bucket that the node has yet to load is refused for a moment`()
        async throws
    {
        let placement = TestPlacement(copies: 2, Self.addresses)
        placement.place("shops", on: [1, 0, 2], isHeld: false)
        try await Self.with(placement) { desk, _, _ in
            let failure = await Self.refusalOfWatch(by: desk)
            #expect(failure?.errorCode == "TEMPORARY_UNAVAILABLE_ERROR")
            #expect(failure?.retryAfterMilliseconds == 100, "\(failure?.message ?? "none")")
        }
    }

    @Test func `A watch of several buckets belongs to nodes that are to hold them all`()
        async throws
    {
        let placement = TestPlacement(copies: 2, Self.addresses)
        placement.place("shops", on: [0, 2, 1], isHeld: true)
        placement.place("parks", on: [1, 2, 0], isHeld: true)
        try await Self.with(placement) { desk, _, _ in
            let failure = await Self.refusalOfWatch(by: desk, Self.pairs)
            #expect(failure?.errorCode == "OPERATION_NOT_ALLOWED")
            #expect(failure?.path == "pairs.bucket")
            #expect(failure?.message.contains(#"the bucket "parks""#) == true)
            #expect(failure?.message.hasSuffix("watch it at db2:4362") == true)
        }
    }

    @Test func `A watch of buckets that no node holds together belongs to those of its own bucket`()
        async throws
    {
        let placement = TestPlacement(copies: 1, Self.addresses)
        placement.place("shops", on: [0, 1, 2], isHeld: true)
        placement.place("parks", on: [1, 2, 0], isHeld: false)
        try await Self.with(placement) { desk, _, _ in
            let failure = await Self.refusalOfWatch(by: desk, Self.pairs)
            #expect(failure?.errorCode == "TEMPORARY_UNAVAILABLE_ERROR")
            let message = failure?.message ?? "none"
            #expect(message.contains(#"is loading the bucket "parks""#), "\(message)")
            placement.place("shops", on: [1, 0, 2], isHeld: true)
            placement.place("parks", on: [0, 1, 2], isHeld: true)
            let other = await Self.refusalOfWatch(by: desk, Self.pairs)
            #expect(other?.message.hasSuffix("watch it at db1:4362") == true)
        }
    }

    @Test func `A request for another node's bucket is refused where no node can be asked`()
        async throws
    {
        let placement = TestPlacement(Self.addresses, held: ["own"])
        try await Self.with(placement) { desk, _, _ in
            for (method, params) in [
                (.get, #"{"bucket":"shops","id":"o1"}"#), (.count, #"{"bucket":"shops"}"#),
                (.delete, #"{"bucket":"shops","id":"o1"}"#), (.export, #"{"bucket":"shops"}"#),
            ] as [(MethodName, String)] {
                let failure = await Self.failure { () throws(RPCFailure) in
                    _ = try await Self.call(desk, method, params)
                }
                #expect(failure?.errorCode == "TEMPORARY_UNAVAILABLE_ERROR", "\(method)")
            }
            let own = try await Self.call(desk, .count, #"{"bucket":"own"}"#)
            #expect(own["count"]?.int == 0)
            // What is invalid is told so wherever the bucket is.
            let invalid = await Self.failure { () throws(RPCFailure) in
                _ = try await Self.call(desk, .get, #"{"bucket":"?"}"#)
            }
            #expect(invalid?.errorCode == "INVALID_BUCKET")
        }
    }

    @Test func `A node that has fallen behind is ready again when it has caught up`() async throws {
        try await Self.with(TestPlacement(Self.addresses)) { _, service, backend in
            #expect(service.health.state == .starting)
            backend.set(isReady: false)
            // Before it has started it is not behind, and when it stops it does.
            #expect(service.health.state == .starting)
            service.health.state = .ready
            #expect(service.health.state == .behind)
            backend.set(isReady: true)
            #expect(service.health.state == .ready)
            backend.set(isReady: false)
            service.health.state = .draining
            #expect(service.health.state == .draining)
        }
    }
}
