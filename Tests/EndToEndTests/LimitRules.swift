import GeoBucketClient
import Objects
import TestSupport
import Testing

/// Limits of requests and connections: one below, at, and one above.
@Suite struct LimitRules {
    @Test func `server.info tells every limit that a client can meet`() async throws {
        try await TestService.with { service in
            let names = try #require(try await service.call("server.info")["limits"]?.names)
            #expect(
                Set(names).isSuperset(of: [
                    "lineBytes", "replyBytes", "objectCharacters", "objectBytes", "objectDepth",
                    "pageObjects",
                    "batchRequests", "putManyObjects", "exports", "exportLogBytes", "clauseDepth",
                    "clauses",
                    "inValues", "polygonPositions", "linePositions", "orderKeys",
                    "dataTypeBytes", "geoFields", "queryMilliseconds", "exportIdleMilliseconds",
                    "connections", "connectionsPerAddress", "handshakeMilliseconds",
                    "lineMilliseconds", "idleMilliseconds", "unreadMilliseconds",
                    "requestsPerSecond", "failedLogins", "failedLoginMilliseconds", "tokenBytes",
                    "queuedWrites",
                    "readThreads", "queueMilliseconds", "pipelinedRequests", "pipelinedBytes",
                    "outputBytes",
                    "bufferedBytes", "watches", "watchesPerConnection", "watchObjects",
                    "watchBytes",
                    "watchPairs", "unindexedWatches", "watchBacklog",
                    "watchHeartbeatMilliseconds",
                ]))
        }
    }

    @Test func `The client refuses objects from the service's limit on`() {
        #expect(ClientConfiguration().objectBytes == Limits().objectBytes)
        #expect(ClientConfiguration().objectCharacters == Limits().objectCharacters)
    }

    @Test func `An order has at most orderKeys keys`() async throws {
        var limits = Limits()
        limits.orderKeys = 3
        try await TestService.with(limits: limits) { service in
            for count in 2...4 {
                let keys = (0..<count).map { #"{"field":"f\#($0)"}"# }.joined(separator: ",")
                let outcome = try await service.queryOutcome(order: #""orderBy":[\#(keys)]"#)
                #expect(
                    outcome == (count <= 3 ? "accepted" : "INVALID_INPUT_DATA bucketQuery.orderBy"),
                    "\(count)")
            }
        }
    }

    @Test(arguments: [2, 3, 4])
    func `A putMany has at most putManyObjects objects`(_ count: Int) async throws {
        var limits = Limits()
        limits.putManyObjects = 3
        try await TestService.with(limits: limits) { service in
            let objects = Array(repeating: "{}", count: count).joined(separator: ",")
            let outcome = try await service.outcome(
                "object.putMany", #"{"bucket":"b1","objects":[\#(objects)]}"#)
            #expect(outcome == (count <= 3 ? "accepted" : "INVALID_INPUT_DATA objects"))
            #expect(try await service.ids().count == (count <= 3 ? count : 0))
        }
    }

    @Test func `A dataType has at most dataTypeBytes bytes of UTF-8`() async throws {
        var limits = Limits()
        limits.dataTypeBytes = 6
        try await TestService.with(limits: limits) { service in
            for (type, isTaken) in [
                ("abcde", true), ("abcdef", true), ("abcdefg", false), ("ééé", true),
                ("éééa", false), ("", false),
            ] {
                let outcome = try await service.outcome(
                    "object.create", #"{"bucket":"b1","object":{},"dataType":"\#(type)"}"#)
                #expect(
                    outcome == (isTaken ? "accepted" : "INVALID_INPUT_DATA dataType"), "\(type)")
            }
        }
    }

    private static func points(_ fields: [String]) -> String {
        "{" + fields.map { "\"\($0)\":\(point(1, 1))" }.joined(separator: ",") + "}"
    }

    @Test func `A bucket has GeoPoints at geoFields field paths at most`() async throws {
        var limits = Limits()
        limits.geoFields = 3
        try await TestService.with(limits: limits) { service in
            _ = try await service.put("o1", Self.points(["a", "b"]))
            _ = try await service.put("o2", Self.points(["b", "c"]))
            #expect(
                try await service.putOutcome("o3", Self.points(["c", "d"]))
                    == "INVALID_INPUT_DATA object.d")
            let many = #"{"bucket":"b1","objects":[{},{"o":\#(Self.points(["x"]))}]}"#
            #expect(
                try await service.outcome("object.putMany", many)
                    == "INVALID_INPUT_DATA objects[1].o.x")
            #expect(
                try await service.outcome(
                    "object.patch", #"{"bucket":"b1","id":"o1","object":{"e":\#(point(1, 1))}}"#)
                    == "INVALID_INPUT_DATA object.e")
            // Another bucket has paths of its own, and a path that is free again can be taken.
            #expect(
                try await service.putOutcome("o1", Self.points(["d", "e", "f"]), in: "b2")
                    == "accepted")
            #expect(
                try await service.putOutcome("o1", Self.points(["a", "b", "c", "d"]), in: "b3")
                    == "INVALID_INPUT_DATA object.d")
            #expect(try await service.putOutcome("o1", Self.points(["b"])) == "accepted")
            #expect(try await service.putOutcome("o3", Self.points(["d"])) == "accepted")
            #expect(try await service.ids().count == 3)
        }
    }

    @Test func `A token has at most tokenBytes bytes`() async throws {
        var limits = Limits()
        limits.handshakeMilliseconds = 3_600_000
        limits.tokenBytes = 100
        try await LoginRules.with(limits: limits) { guarded in
            for (length, outcome) in [
                (99, "1401 WRONG_TOKEN token"), (100, "1401 WRONG_TOKEN token"),
                (101, "-32602 INVALID_INPUT_DATA token"),
            ] {
                let token = String(repeating: "x", count: length)
                let outcomes = try await guarded.outcomes(
                    as: nil, [("auth.login", #"{"token":"\#(token)"}"#)])
                #expect(outcomes == [outcome], "\(length)")
            }
        }
    }

    // By default these are four fifths of all.
    @Test(arguments: [(10_000, 3, 3), (5, 0, 4)])
    func `One address has at most connectionsPerAddress connections`(
        _ all: Int, _ perAddress: Int, _ most: Int
    ) async throws {
        var limits = Limits()
        (limits.connections, limits.connectionsPerAddress) = (all, perAddress)
        try await TestService.with(limits: limits) { service in
            // The service's own connection is the first; one that asks for nothing would give way.
            try await service.call("server.ping")
            func ping(_ raw: RawConnection) throws -> String? {
                try raw.send(FramingRules.ping())
                return try raw.line()
            }
            try RawConnection.with(port: service.port, count: most - 1) { others in
                for raw in others { #expect(try ping(raw) == FramingRules.pong()) }
                try RawConnection.with(port: service.port) { more in
                    let line = try ping(more)
                    #expect(try FramingRules.code(line) == "1429 TOO_MANY_REQUESTS id null")
                    #expect(line?.contains("retryAfterMillis") == true)
                    #expect(try more.line() == nil)
                }
                try RawConnection.with(port: service.port, from: "127.0.0.2") { other in
                    let answer = try ping(other)
                    #expect(answer == FramingRules.pong())
                }
            }
        }
    }

    @Test func `An address without a login asks requestsPerSecond times in a second at once`()
        async throws
    {
        var limits = Limits()
        limits.requestsPerSecond = 5
        let clock = TestClock()
        try await TestService.with(limits: limits, monotonic: clock) { service in
            try RawConnection.with(port: service.port) { raw in
                func codes(_ count: Int) throws -> [String] {
                    try raw.send(String(repeating: FramingRules.ping(), count: count))
                    return try (0..<count).map { _ in try FramingRules.code(try raw.line()) }
                }
                let (fine, refused) = ("no error", "1429 TOO_MANY_REQUESTS id 1")
                #expect(try codes(4) == Array(repeating: fine, count: 4))
                #expect(try codes(1) == [fine])
                #expect(try codes(1) == [refused])
                clock.advance(199_999_999)
                #expect(try codes(1) == [refused])
                clock.advance(1)
                #expect(try codes(2) == [fine, refused])
                // Each request of a batch counts, and so does a line that makes no sense.
                clock.advance(10_000_000_000)
                let ping = FramingRules.ping(end: "")
                try raw.send("[" + [ping, ping, ping, ping].joined(separator: ",") + "]\nx\n")
                #expect(try raw.line()?.contains("1429") == false)
                #expect(try FramingRules.code(try raw.line()) == "-32700 INVALID_JSON id null")
                try raw.send(FramingRules.ping())
                let line = try raw.line()
                #expect(try FramingRules.code(line) == refused)
                #expect(line?.contains("\"retryAfterMillis\":200") == true)
            }
        }
    }

    @Test func `Lines beyond pipelinedRequests and pipelinedBytes wait, and none is lost`()
        async throws
    {
        // A line has more than 90 bytes, so at most 12 of them wait in 1,024. None is refused: no more are
        // taken in than may wait to be written.
        for (requests, bytes, writes) in [(1, 1 << 20, 1), (2, 1 << 20, 2), (1_024, 1_024, 12)] {
            var limits = Limits()
            limits.pipelinedRequests = requests
            limits.pipelinedBytes = bytes
            limits.queuedWrites = writes
            try await TestService.with(limits: limits) { service in
                try RawConnection.with(port: service.port) { raw in
                    let put = #""params":{"bucket":"b1","id":"o1","object":{}}}"#
                    let lines = (1...300).map {
                        #"{"jsonrpc":"2.0","id":\#($0),"method":"object.put",\#(put)"# + "\n"
                    }
                    try raw.send(lines.joined())
                    for number in 1...300 {
                        let answer = try JSONValue(parsing: try #require(try raw.line()))
                        #expect(answer["id"]?.int == number)
                        #expect(answer["result"]?["_version"]?.int == number)
                    }
                }
            }
        }
    }

    @Test func `bucket.list ends before replyBytes and goes on from its key`() async throws {
        var limits = Limits()
        limits.replyBytes = 1_200
        try await TestService.with(limits: limits) { service in
            let names = (10..<90).map { "bucket-\($0)" }
            for name in names { _ = try await service.put("o1", "{}", in: name) }
            _ = try await service.put("o1", "{}", in: "users/alice/notes")
            var (found, pages, key): ([String], Int, String?) = ([], 0, nil)
            repeat {
                let params = key.map { #"{"paginationKey":"\#($0)"}"# } ?? "{}"
                let line = try await service.line(
                    #"{"jsonrpc":"2.0","id":1,"method":"bucket.list","params":\#(params)}"#)
                #expect(line.utf8.count <= 1_200)
                let page = try JSONValue(parsing: line)["result"]
                found += page?["buckets"]?.array?.compactMap { $0["bucket"]?.string } ?? []
                key = page?["nextPaginationKey"]?.string
                pages += 1
            } while key != nil && pages < 100
            #expect(found == names)
            #expect(pages > 2)
            for key in ["", "x", "users/alice/notes", "no key"] {
                #expect(
                    try await service.outcome("bucket.list", #"{"paginationKey":"\#(key)"}"#)
                        == "INVALID_INPUT_DATA paginationKey")
            }
        }
    }

    @Test func `Writes beyond queuedWrites are refused, in their place, and the others are done`()
        async throws
    {
        var limits = Limits()
        limits.queuedWrites = 1
        try await TestService.with(limits: limits) { service in
            // Where one may wait, about every second one finds one waiting. Where more may, hardly any is
            // refused.
            let refused = try (0..<3).map { _ in try Self.refusedOfHundred(service) }
            #expect(refused.max()! >= 40, "\(refused)")
            #expect(try await service.get("o1")["_version"]?.int ?? 0 > 0)
        }
    }

    /// Sends a hundred writes at once, and checks their answers.
    ///
    /// - Returns: how many were refused.
    private static func refusedOfHundred(_ service: TestService) throws -> Int {
        try RawConnection.with(port: service.port) { raw in
            let put = #""params":{"bucket":"b1","id":"o1","object":{}}}"#
            let lines = (1...100).map {
                #"{"jsonrpc":"2.0","id":\#($0),"method":"object.put",\#(put)"# + "\n"
            }
            try raw.send(lines.joined())
            var versions: [Int] = []
            for number in 1...100 {
                let line = try #require(try raw.line())
                let answer = try JSONValue(parsing: line)
                #expect(answer["id"]?.int == number)
                if let version = answer["result"]?["_version"]?.int {
                    versions.append(version)
                } else {
                    #expect(line.contains("TOO_MANY_REQUESTS") && line.contains("retryAfterMillis"))
                }
            }
            #expect(zip(versions, versions.dropFirst()).allSatisfy { $1 == $0 + 1 })
            #expect(!versions.isEmpty)
            return 100 - versions.count
        }
    }
}
