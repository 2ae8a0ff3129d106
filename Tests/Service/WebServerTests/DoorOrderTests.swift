import GeoBucketClient
import JSONText
import Objects
import ServiceDesk
import TestSupport
import Testing
import WebServer

/// In which order a request is refused: by the rate, the login, what the login permits, the length, and
/// only then by what it asks.
@Suite(.timeLimit(.minutes(5))) struct DoorOrderTests {
    /// A service with one token, which is bound to the bucket `shops`.
    private static func with(
        _ limits: Limits = Limits(), clock: TestClock? = nil,
        _ body: @escaping @Sendable (_ port: Int, _ login: String) async throws -> Void
    ) async throws {
        let token = Token()
        let grant = try Grant(principal: "rita", role: .read, holdsFor: ["shops"])
        var file = TokenFile()
        file.add(.init(token, grant, created: 0))
        let access = AccessControl(tokens: file)
        try await TestService.with(
            limits: limits, access: access, web: Web.guarded, monotonic: clock
        ) { service in
            try await body(service.webPort, "Authorization: Bearer \(token.text)")
        }
    }

    /// Paths with a bucket whose parameters are not valid.
    private static func invalid(_ bucket: String) -> [String] {
        [
            "/tiles/\(bucket)/0/0/0.mvt?filter=(((", "/tiles/\(bucket)/0/0/0.mvt?no=1",
            "/tiles/\(bucket).json?query=%7B", "/watch?bucket=\(bucket)&query=nothing",
            "/watch?bucket=\(bucket)&filter=(((", "/ogc/collections/\(bucket)/items?filter=(((",
            "/ogc/collections/\(bucket)?no=1",
        ]
    }

    @Test func `Without a login nothing is told of the parameters, nor of another's bucket`()
        async throws
    {
        try await Self.with { port, login in
            for path in Self.invalid("shops") + ["/watch", "/tiles/A/0/0/0.mvt"] {
                #expect(try await Web.get(port, path).status == 401, "\(path)")
            }
            for path in Self.invalid("others") {
                let answer = try await Web.get(port, path, headers: [login])
                #expect(answer.status == 403, "\(path)")
            }
            for path in Self.invalid("shops") where !path.hasPrefix("/ogc/collections/shops/items")
            {
                let answer = try await Web.get(port, path, headers: [login])
                #expect(answer.status == 400, "\(path): \(answer.body)")
            }
        }
    }

    @Test func `A body is read only of somebody who may send one`() async throws {
        var limits = Limits()
        limits.lineBytes = 2_048
        try await Self.with(limits) { port, login in
            let long = String(repeating: " ", count: 2_049)
            for (header, status) in [
                ([login], 413), (["Authorization: Bearer none"], 401), ([], 401),
            ] {
                let answer = try await Web.rpc(port, long, headers: [Web.json] + header)
                #expect(answer.status == status, "\(header)")
            }
        }
    }

    @Test func `The form of a login may be as long as a token`() async throws {
        var limits = Limits()
        limits.tokenBytes = 100
        try await Self.with(limits) { port, _ in
            let pairs = String(repeating: "a&", count: 2_000)
            let form = "Content-Type: application/x-www-form-urlencoded"
            for (body, status) in [
                (pairs, 413), ("a&b&token=none", 401),
                ("token=\(String(repeating: "%41", count: 100))", 401),
                ("token=\(String(repeating: "%41", count: 101))", 400),
            ] {
                let answer = try await onBlockingThreads {
                    try HTTPAnswer(
                        port: port, path: "/login", method: "POST", headers: [form], body: body)
                }
                #expect(answer.status == status, "\(body.prefix(20)): \(answer.body)")
            }
        }
    }

    @Test func `Logins and wrong tokens count as requests of their address`() async throws {
        var limits = Limits()
        (limits.requestsPerSecond, limits.failedLogins) = (5, 1_000)
        let clock = TestClock(0)
        try await Self.with(limits, clock: clock) { port, login in
            // A login that is known is not verified again.
            #expect(try await Web.get(port, "/ogc/collections", headers: [login]).status == 200)
            let wrong = "Authorization: Bearer wrong"
            for number in 0..<8 {
                let answer =
                    if number.isMultiple(of: 2) {
                        try await Web.get(port, "/watch?bucket=shops", headers: [wrong])
                    } else {
                        try await onBlockingThreads {
                            try HTTPAnswer(
                                port: port, path: "/login", method: "POST", headers: [Web.json],
                                body: #"{"token":"wrong"}"#)
                        }
                    }
                #expect(answer.status == (number < 5 ? 401 : 429), "\(number)")
            }
            #expect(try await Web.get(port, "/ogc/collections", headers: [login]).status == 200)
        }
    }

    @Test func `A login that comes too often is told so, whatever its length`() async throws {
        var limits = Limits()
        (limits.requestsPerSecond, limits.tokenBytes) = (2, 100)
        try await Self.with(limits, clock: TestClock(0)) { port, _ in
            let long = String(repeating: " ", count: 2_000)
            for status in [413, 413, 429] {
                let answer = try await onBlockingThreads {
                    try HTTPAnswer(
                        port: port, path: "/login", method: "POST", headers: [Web.json], body: long)
                }
                #expect(answer.status == status)
            }
        }
    }

    @Test func `A request counts once, by its principal`() async throws {
        var limits = Limits()
        limits.requestsPerSecond = 5
        try await Self.with(limits, clock: TestClock(0)) { port, login in
            let count = Web.request("bucket.count", #"{"bucket":"shops"}"#)
            for status in [200, 200, 200, 200, 200, 429] {
                let answer = try await Web.rpc(port, count, headers: [Web.json, login])
                #expect(answer.status == status)
            }
            // Somebody without a login is another.
            #expect(try await Web.get(port, "/watch?bucket=shops").status == 401)
        }
    }

    @Test func `A request counts once, however many methods it calls`() async throws {
        var limits = Limits()
        limits.requestsPerSecond = 1
        let clock = TestClock(0)
        try await TestService.with(
            limits: limits, web: Web.open, monotonic: clock
        ) { service in
            let port = service.webPort
            func get(_ path: String) async throws -> Int {
                clock.advance(1_000_000_000)
                return try await Web.get(port, path).status
            }
            // Over the line, which counts too.
            let point = #"{"_type":"point","lat":35.6,"lon":139.7}"#
            try await service.call(
                "object.put", #"{"bucket":"shops","id":"a1","object":{"at":\#(point)}}"#)
            for path in [
                "/ogc/collections/shops/items?limit=10", "/ogc/collections",
                "/ogc/collections/shops",
                "/ogc/collections/shops/schema", "/tiles/shops.json", "/tiles/shops/0/0/0.mvt",
            ] {
                #expect(try await get(path) == 200, "\(path)")
                #expect(try await Web.get(port, path).status == 429, "\(path)")
            }
        }
    }

    @Test func `What the doors refuse is counted, logins as auth.login`() async throws {
        let token = Token()
        var file = TokenFile()
        file.add(.init(token, try Grant(principal: "root", role: .admin), created: 0))
        var limits = Limits()
        (limits.tokenBytes, limits.lineBytes) = (100, 4_096)
        try await TestService.with(
            limits: limits, access: AccessControl(tokens: file), web: Web.guarded
        ) { [limits] service in
            let port = service.webPort
            func post(_ path: String, _ body: String, _ headers: [String] = []) async throws -> Int
            {
                try await onBlockingThreads {
                    try HTTPAnswer(
                        port: port, path: path, method: "POST", headers: [Web.json] + headers,
                        body: body
                    ).status
                }
            }
            let long = String(repeating: " ", count: limits.lineBytes + 1)
            for (body, status) in [
                (#"{"token":"\#(token.text)"}"#, 200), (#"{"token":"wrong"}"#, 401), ("{}", 400),
                (long, 413),
            ] {
                #expect(try await post("/login", body) == status)
            }
            #expect(try await post("/rpc", "{}", ["Authorization: Bearer wrong"]) == 401)
            #expect(try await post("/rpc", long) == 401)
            #expect(
                try await post("/rpc", long, ["Authorization: Bearer \(token.text)"]) == 413)
            #expect(try await Web.get(port, "/watch?bucket=shops").status == 401)
            #expect(try await Web.get(port, "/ogc/collections/shops").status == 401)
            try await service.connection.logIn(token: token.text)
            let requests = try await service.call("server.stats")["requests"]
            for (name, count, errors) in [("auth.login", 5, 3), ("other", 5, 5)] {
                #expect(requests?[name]?["count"]?.int == count, "\(name)")
                #expect(requests?[name]?["errors"]?.int == errors, "\(name)")
            }
        }
    }

    @Test func `A request has so many parameters, of which none is read before it is needed`()
        async throws
    {
        try await TestService.with(web: Web.open) { service in
            let port = service.webPort
            for (count, message) in [(256, "there is no such parameter"), (257, "at most 256")] {
                let query = Array(repeating: "a", count: count).joined(separator: "&")
                let answer = try await Web.get(port, "/watch?bucket=shops&\(query.dropFirst(2))")
                #expect(answer.status == 400 && answer.body.contains(message), "\(answer.body)")
                #expect(try await Web.get(port, "/map?\(query)").status == 200)
            }
        }
    }
}
