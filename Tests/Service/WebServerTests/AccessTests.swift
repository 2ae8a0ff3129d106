import Objects
import ServiceDesk
import TestSupport
import Testing
import WebServer

/// Who may use the web port, and for which pages a browser may.
@Suite(.timeLimit(.minutes(5))) struct AccessTests {
    private static func with(
        settings: WebPort.Settings = Web.guarded, limits: Limits = Limits(),
        _ body: @escaping @Sendable (TestService, AccessControl, Token) async throws -> Void
    ) async throws {
        let token = Token()
        var file = TokenFile()
        file.add(.init(token, try Grant(principal: "rita", role: .read), created: 0))
        let access = AccessControl(tokens: file)
        try await TestService.with(limits: limits, access: access, web: settings) { service in
            try await body(service, access, token)
        }
    }

    private static let count = Web.request("bucket.count", #"{"bucket":"shops"}"#)
    private static let put = Web.request(
        "object.put", #"{"bucket":"shops","id":"s1","object":{}}"#)

    @Test func `A token is taken as a bearer's, or as the password of anybody`() async throws {
        try await Self.with { service, _, token in
            let basic = Base64Text.encode("anybody:\(token.text)")
            for authorization in [
                "Bearer \(token.text)", "bearer \(token.text)", "Basic \(basic)", "basic \(basic)",
            ] {
                let answer = try await Web.rpc(
                    service.webPort, Self.count,
                    headers: [Web.json, "Authorization: \(authorization)"])
                #expect(answer.status == 200)
                #expect(answer.body.contains(#""count":0"#), "\(authorization): \(answer.body)")
            }
        }
    }

    @Test func `Without a login, or with a wrong one, the status is 401`() async throws {
        try await Self.with { service, _, _ in
            let none = try await Web.rpc(service.webPort, Self.count)
            #expect(none.status == 401)
            #expect(none.field("www-authenticate")?.hasPrefix("bearer") == true)
            #expect(none.body.contains(#""errorCode":"UNAUTHORIZED""#))
            for authorization in [
                "Bearer wrong", "Basic d3Jvbmc=", "Basic %", "Digest x", "Bearer",
            ] {
                let wrong = try await Web.rpc(
                    service.webPort, Self.count,
                    headers: [Web.json, "Authorization: \(authorization)"])
                #expect(wrong.status == 401, "\(authorization)")
                #expect(wrong.body.contains(#""errorCode":"WRONG_TOKEN""#), "\(wrong.body)")
            }
            #expect(try await Web.get(service.webPort, "/watch?bucket=shops").status == 401)
            let ping = try await Web.rpc(service.webPort, Web.request("server.ping", "{}"))
            #expect(ping.status == 200)
        }
    }

    @Test func `What a login does not permit is the protocol's error`() async throws {
        try await Self.with { service, _, token in
            let answer = try await Web.rpc(
                service.webPort, Self.put,
                headers: [Web.json, "Authorization: Bearer \(token.text)"])
            #expect(answer.status == 200)
            #expect(answer.body.contains(#""errorCode":"OPERATION_NOT_ALLOWED""#))
        }
    }

    @Test func `A failed login is logged with its address, one that had to wait is not`()
        async throws
    {
        var limits = Limits()
        limits.failedLogins = 1
        limits.failedLoginMilliseconds = 60_000
        let log = LogLines()
        let access = AccessControl(tokens: TokenFile())
        try await TestService.with(limits: limits, access: access, web: Web.guarded, log: log) {
            service in
            for text in ["a", "b"] {
                _ = try await Web.rpc(
                    service.webPort, Self.count,
                    headers: [Web.json, "Authorization: Bearer \(text)"])
            }
        }
        #expect(log.all.count { $0.contains("a login failed") } == 1)
    }

    @Test func `Failed logins have to wait`() async throws {
        var limits = Limits()
        limits.failedLogins = 2
        limits.failedLoginMilliseconds = 60_000
        try await Self.with(limits: limits) { service, _, _ in
            var statuses: [Int] = []
            for text in ["a", "b", "c"] {
                let answer = try await Web.rpc(
                    service.webPort, Self.count,
                    headers: [Web.json, "Authorization: Bearer \(text)"])
                statuses.append(answer.status)
                if answer.status == 429 { #expect(answer.field("retry-after") != nil) }
            }
            #expect(statuses == [401, 401, 429])
        }
    }

    // MARK: Sessions

    /// The cookie of a login.
    private static func logIn(
        _ port: Int, _ body: String, type: String = "application/json"
    ) async throws -> (answer: HTTPAnswer, cookie: String?) {
        let answer = try await onBlockingThreads {
            try HTTPAnswer(
                port: port, path: "/login", method: "POST", headers: ["Content-Type: \(type)"],
                body: body, keepsCase: true)
        }
        let cookie = answer.field("set-cookie")?.split(separator: ";").first.map(String.init)
        return (answer, cookie)
    }

    private static func count(
        _ port: Int, cookie: String, origin: String?
    ) async throws -> Int {
        var headers = [Web.json, "Cookie: other=1; \(cookie)"]
        if let origin { headers.append("Origin: \(origin)") }
        return try await Web.rpc(port, count, headers: headers).status
    }

    @Test func `A session lasts from its login to its logout`() async throws {
        try await Self.with { service, _, token in
            let port = service.webPort
            let bodies = [
                (#"{"token":"\#(token.text)"}"#, "application/json"),
                ("token=\(token.text)&x=1", "application/x-www-form-urlencoded"),
            ]
            for (body, type) in bodies {
                let (answer, cookie) = try await Self.logIn(port, body, type: type)
                #expect(answer.status == 200)
                #expect(answer.body == #"{"principal":"rita","role":"read"}"#)
                let whole = try #require(answer.field("set-cookie"))
                for part in ["HttpOnly", "SameSite=Strict", "Path=/", "Max-Age=432"] {
                    #expect(whole.contains(part), "\(whole)")
                }
                let session = try #require(cookie)
                let own = "http://localhost"
                #expect(try await Self.count(port, cookie: session, origin: own) == 200)
                #expect(try await Self.count(port, cookie: session, origin: nil) == 403)
                #expect(try await Self.count(port, cookie: session, origin: "http://evil") == 403)
                let watch = try await Web.get(
                    port, "/watch?bucket=shops&limit=x", headers: ["Cookie: \(session)"])
                #expect(watch.status == 400)
                let out = try await onBlockingThreads {
                    try HTTPAnswer(
                        port: port, path: "/logout", method: "POST",
                        headers: ["Cookie: \(session)", "Origin: \(own)"], body: "")
                }
                #expect(out.status == 204)
                #expect(out.field("set-cookie")?.contains("max-age=0") == true)
                #expect(try await Self.count(port, cookie: session, origin: own) == 401)
            }
        }
    }

    @Test func `A session ends with its token`() async throws {
        try await Self.with { service, access, token in
            let (_, cookie) = try await Self.logIn(
                service.webPort, #"{"token":"\#(token.text)"}"#)
            let session = try #require(cookie)
            let origin = "http://localhost"
            #expect(try await Self.count(service.webPort, cookie: session, origin: origin) == 200)
            access.replace(TokenFile())
            #expect(try await Self.count(service.webPort, cookie: session, origin: origin) == 401)
        }
    }

    @Test func `A login without a token, or with a wrong one, is refused`() async throws {
        try await Self.with { service, _, _ in
            let port = service.webPort
            for (body, type, status) in [
                (#"{"token":"no"}"#, "application/json", 401), ("{}", "application/json", 400),
                ("nothing", "application/json", 400), ("x", "text/plain", 415),
            ] {
                let (answer, cookie) = try await Self.logIn(port, body, type: type)
                #expect(answer.status == status, "\(body)")
                #expect(cookie == nil)
            }
        }
        try await TestService.with(web: Web.open) { service in
            let (answer, cookie) = try await Self.logIn(service.webPort, #"{"token":"t"}"#)
            #expect(answer.status == 400)
            #expect(cookie == nil)
        }
    }

    // MARK: Hosts and origins

    @Test func `A port for this machine answers to this machine's names only`() async throws {
        try await TestService.with(web: Web.open) { service in
            for (host, isOwn) in [
                ("localhost", true), ("localhost:4364", true), ("127.0.0.1:1", true),
                ("[::1]:4364", true), ("LOCALHOST", true), ("127.1.2.3", true),
                ("map.localhost", true), ("evil.example", false), ("evil.example:4364", false),
                ("127.0.0.1.evil.example", false), ("localhost.evil.example", false),
                ("10.0.0.1", false), ("128.0.0.1", false), ("[::2]", false), ("", false),
            ] {
                let answer = try await Web.get(service.webPort, "/map", headers: ["Host: \(host)"])
                #expect(answer.status == (isOwn ? 200 : 403), "\(host)")
            }
        }
        try await Self.with { service, _, _ in
            let answer = try await Web.get(
                service.webPort, "/map", headers: ["Host: geo.example.com"])
            #expect(answer.status == 200)
        }
    }

    @Test func `Where nobody logs in, a name that anybody's name server may give is refused`()
        async throws
    {
        var settings = Web.open
        settings.hosts = .knownNames
        settings.url = "https://Geo.example.com:8443/below"
        try await TestService.with(web: settings) { service in
            for (host, isKnown) in [
                ("localhost:4364", true), ("127.0.0.1", true), ("10.0.0.1:4364", true),
                ("[fe80::1]:4364", true), ("geobucket:4364", true), ("GEOBUCKET", true),
                ("geo.example.com", true), ("geo.example.com:8443", true), ("", false),
                ("evil.example", false), ("10.0.0.1.evil.example:4364", false),
                ("localhost.evil.example", false), ("x.geo.example.com", false), ("evil.", false),
            ] {
                let answer = try await Web.get(service.webPort, "/map", headers: ["Host: \(host)"])
                #expect(answer.status == (isKnown ? 200 : 403), "\(host)")
            }
        }
    }

    @Test func `Who has not logged in is told how to over HTTP`() async throws {
        try await Self.with { service, _, _ in
            for path in ["/ogc/collections", "/watch?bucket=shops", "/tiles/shops/0/0/0.mvt"] {
                let answer = try await Web.get(service.webPort, path)
                #expect(answer.status == 401)
                #expect(
                    answer.body
                        == #"{"errorCode":"UNAUTHORIZED","message":"log in first: send a token as Authorization: Bearer, or as the password of Basic"}"#
                )
            }
        }
    }

    @Test func `A page of another origin may neither write nor read`() async throws {
        try await TestService.with(web: Web.open) { service in
            for (origin, isOwn) in [
                ("http://localhost", true), ("https://localhost", true), ("http://evil", false),
                ("null", false), ("http://localhost.evil", false), ("http://localhost:1", false),
            ] {
                let answer = try await Web.rpc(
                    service.webPort, Self.put, headers: [Web.json, "Origin: \(origin)"])
                #expect(answer.status == (isOwn ? 200 : 403), "\(origin)")
                #expect(answer.field("access-control-allow-origin") == nil)
            }
            // A browser adds a password that it knows to what any page sends.
            for (authorization, status) in [
                ("Basic YTpi", 403), ("basic YTpi", 403), ("Digest x", 403), ("Bearer b", 200),
            ] {
                let answer = try await Web.rpc(
                    service.webPort, Self.put,
                    headers: [Web.json, "Origin: http://evil", "Authorization: \(authorization)"])
                #expect(answer.status == status, "\(authorization)")
            }
        }
    }

    @Test func `An origin that is named may read and write`() async throws {
        var settings = Web.open
        settings.origins = ["https://app.example.com"]
        try await TestService.with(web: settings) { service in
            let port = service.webPort
            let origin = "Origin: https://app.example.com"
            let answer = try await Web.rpc(port, Self.put, headers: [Web.json, origin])
            #expect(answer.status == 200)
            #expect(answer.field("access-control-allow-origin") == "https://app.example.com")
            #expect(answer.field("vary") == "accept-encoding, origin")
            let asks = "Access-Control-Request-Method: POST"
            for (origin, isNamed) in [(origin, true), ("Origin: http://evil", false)] {
                let preflight = try await onBlockingThreads {
                    try HTTPAnswer(
                        port: port, path: "/rpc", method: "OPTIONS", headers: [origin, asks])
                }
                #expect(preflight.status == (isNamed ? 204 : 405))
                #expect((preflight.field("access-control-allow-methods") != nil) == isNamed)
                #expect((preflight.field("access-control-allow-origin") != nil) == isNamed)
            }
        }
    }

    @Test func `A session's cookie is for the service's own pages, whoever else is named`()
        async throws
    {
        var settings = Web.open
        settings.origins = ["https://app.example.com"]
        try await TestService.with(web: settings) { service in
            for (origin, status) in [
                ("http://localhost", 200), ("https://app.example.com", 403), ("http://evil", 403),
            ] {
                let answer = try await Web.rpc(
                    service.webPort, Self.put,
                    headers: [Web.json, "Origin: \(origin)", "Cookie: geobucket=x"])
                #expect(answer.status == status, "\(origin)")
            }
        }
    }

    @Test func `Every answer tells a browser what a page may load`() async throws {
        try await TestService.with(web: Web.open) { service in
            for path in ["/", "/map", "/login", "/nowhere", "/watch"] {
                let answer = try await Web.get(service.webPort, path)
                let policy = answer.field("content-security-policy")
                #expect(policy?.hasPrefix("default-src 'self';") == true, "\(path)")
                #expect(policy?.hasSuffix("; frame-ancestors 'none'") == true, "\(path)")
                #expect(answer.field("x-content-type-options") == "nosniff")
                #expect(answer.field("referrer-policy") == "no-referrer")
                #expect(answer.field("cross-origin-resource-policy") == "same-origin")
                #expect(answer.field("strict-transport-security") == nil)
            }
        }
    }

    @Test func `Browsers are told to come by TLS alone where clients reach the port by it`()
        async throws
    {
        for (url, expected) in [
            ("https://geo.example.com", "max-age=31536000"), ("http://geo.example.com", nil),
        ] {
            var settings = Web.guarded
            settings.url = url
            try await TestService.with(web: settings) { service in
                for path in ["/map", "/rpc", "/nowhere"] {
                    let answer = try await Web.get(service.webPort, path)
                    #expect(answer.field("strict-transport-security") == expected, "\(path)")
                }
            }
        }
    }
}
