import JSONText
import Objects
import ServiceDesk
import TestSupport
import Testing
import WebServer

/// When streams and sessions end, and how many there may be.
@Suite(.timeLimit(.minutes(5))) struct StreamEndTests {
    private static func logIn(
        _ port: Int, _ token: Token
    ) throws -> String {
        let answer = try HTTPAnswer(
            port: port, path: "/login", method: "POST", headers: [Web.json],
            body: #"{"token":"\#(token.text)"}"#, keepsCase: true)
        return String(answer.field("set-cookie")!.prefix { $0 != ";" })
    }

    /// A service with a token and a bucket, by a clock in milliseconds.
    private static func with(
        _ limits: Limits = Limits(), _ settings: WebPort.Settings = Web.guarded,
        clock: TestClock = TestClock(),
        _ body: @escaping @Sendable (_ port: Int, _ token: Token) throws -> Void
    ) async throws {
        let (reader, writer) = (Token(), Token())
        var file = TokenFile()
        file.add(.init(reader, try Grant(principal: "rita", role: .read), created: 0))
        file.add(.init(writer, try Grant(principal: "wim", role: .write), created: 0))
        let access = AccessControl(tokens: file)
        let now: @Sendable () -> Int64 = { clock.now }
        try await TestService.with(limits: limits, access: access, web: settings, now: now) {
            service in
            let put = Web.request("object.put", #"{"bucket":"shops","id":"s1","object":{}}"#)
            let answer = try await Web.rpc(
                service.webPort, put,
                headers: [Web.json, "Authorization: Bearer \(writer.text)"])
            #expect(answer.body.contains("_version"))
            let port = service.webPort
            try await onBlockingThreads { try body(port, reader) }
        }
    }

    /// The events of a stream until its end.
    private static func names(_ stream: Web.Stream) throws -> [String] {
        var names: [String] = []
        while let event = try stream.next() { names.append(event.name) }
        return names
    }

    @Test func `A live query ends when its session is ended`() async throws {
        try await Self.with { port, token in
            let cookie = try Self.logIn(port, token)
            try RawConnection.with(port: port) { raw in
                let stream = try Web.Stream(raw, "bucket=shops", headers: ["Cookie: \(cookie)"])
                #expect(try stream.next()?.name == "snapshot")
                let out = try HTTPAnswer(
                    port: port, path: "/logout", method: "POST",
                    headers: ["Cookie: \(cookie)", "Origin: http://localhost"], body: "")
                #expect(out.status == 204)
                let end = try #require(try stream.next())
                #expect(end.name == "end" && end.data.contains("UNAUTHORIZED"))
                #expect(try stream.next() == nil)
            }
        }
    }

    @Test func `A live query ends with the twelve hours of its session`() async throws {
        let clock = TestClock()
        try await Self.with(clock: clock) { port, token in
            let cookie = try Self.logIn(port, token)
            try RawConnection.with(port: port) { raw in
                let stream = try Web.Stream(raw, "bucket=shops", headers: ["Cookie: \(cookie)"])
                #expect(try stream.next()?.name == "snapshot")
                clock.advance(12 * 3_600_000)
                #expect(try Self.names(stream).last == "end")
            }
        }
    }

    @Test func `The session of a principal that ends first gives way, and what goes on under it`()
        async throws
    {
        var limits = Limits()
        limits.sessionsPerPrincipal = 2
        let clock = TestClock()
        try await Self.with(limits, clock: clock) { port, token in
            let first = try Self.logIn(port, token)
            try RawConnection.with(port: port) { raw in
                let stream = try Web.Stream(raw, "bucket=shops", headers: ["Cookie: \(first)"])
                #expect(try stream.next()?.name == "snapshot")
                var cookies: [String] = []
                for _ in 0..<2 {
                    clock.advance(1_000)
                    cookies.append(try Self.logIn(port, token))
                }
                #expect(try Self.names(stream).last == "end")
                for (cookie, status) in [(first, 401), (cookies[0], 400), (cookies[1], 400)] {
                    let answer = try HTTPAnswer(
                        port: port, path: "/watch?bucket=shops&limit=x",
                        headers: ["Cookie: \(cookie)"])
                    #expect(answer.status == status)
                }
            }
        }
    }

    @Test func `A principal has so many streams at once`() async throws {
        var limits = Limits()
        limits.streamsPerPrincipal = 2
        try await Self.with(limits) { port, token in
            let login = "Authorization: Bearer \(token.text)"
            try RawConnection.with(port: port, count: 2) { many in
                for raw in many {
                    let stream = try Web.Stream(raw, "bucket=shops", headers: [login])
                    #expect(try stream.next()?.name == "snapshot")
                }
                let answer = try HTTPAnswer(
                    port: port, path: "/watch?bucket=shops", headers: [login])
                #expect(answer.status == 429 && answer.field("retry-after") != nil)
                // A watch that is refused is none.
                let invalid = try HTTPAnswer(
                    port: port, path: "/watch?bucket=shops&limit=x", headers: [login])
                #expect(invalid.status == 400)
                many[0].close()
                var isFree = false
                while !isFree {
                    try RawConnection.with(port: port) { raw in
                        let stream = try Web.Stream(raw, "bucket=shops", headers: [login])
                        isFree = stream.status.contains(" 200 ")
                    }
                }
            }
        }
    }

    @Test func `Where browsers see HTTPS, no other host can set the cookie`() async throws {
        var settings = Web.guarded
        settings.url = "https://geo.example.com"
        for (settings, isSecure) in [(settings, true), (Web.guarded, false)] {
            try await Self.with(Limits(), settings) { port, token in
                let answer = try HTTPAnswer(
                    port: port, path: "/login", method: "POST", headers: [Web.json],
                    body: #"{"token":"\#(token.text)"}"#, keepsCase: true)
                let cookie = try #require(answer.field("set-cookie"))
                #expect(cookie.hasPrefix(isSecure ? "__Host-geobucket=" : "geobucket="))
                #expect(cookie.contains("; Path=/;"))
                #expect(cookie.hasSuffix("; Secure") == isSecure)
                let name = cookie.prefix { $0 != ";" }
                let mine = try HTTPAnswer(
                    port: port, path: "/watch?bucket=shops&limit=x", headers: ["Cookie: \(name)"])
                #expect(mine.status == 400)
                if isSecure {
                    let other = try HTTPAnswer(
                        port: port, path: "/watch?bucket=shops&limit=x",
                        headers: ["Cookie: \(name.dropFirst("__Host-".count))"])
                    #expect(other.status == 401)
                }
            }
        }
    }
}
