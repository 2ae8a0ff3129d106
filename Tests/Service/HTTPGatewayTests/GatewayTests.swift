import Objects
import Runtime
import ServiceDesk
import TestSupport
import Testing

@testable import HTTPGateway

/// Health and metrics over HTTP: what is answered, and to whom.
@Suite(.timeLimit(.minutes(5))) struct GatewayTests {
    /// Runs a gateway around `body`, which gets its port, and stops it.
    static func with<Result: Sendable>(
        _ limits: Limits = Limits(), health: Health = Health(),
        _ body: @Sendable (_ port: Int) throws -> Result
    ) async throws -> Result {
        let (ports, report) = AsyncStream<Int>.makeStream()
        let gateway = GatewayServer(
            host: "127.0.0.1", port: 0, health: health, metrics: { "geobucket_objects 3\n" },
            limits: limits, listening: { _, port in report.yield(port) })
        let running = Task { try await gateway.run() }
        let port = try #require(await ports.first { _ in true })
        do {
            let result = try await onBlockingThreads { try body(port) }
            running.cancel()
            _ = await running.result
            return result
        } catch {
            running.cancel()
            throw error
        }
    }

    static let get = "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"

    /// One whole answer on a connection that goes on.
    static func answer(_ raw: RawConnection) throws -> String? {
        let status = try raw.line()
        while let line = try raw.line(), line != "\r" {}
        return try raw.line().map { "\(status?.dropLast() ?? "") \($0)" }
    }

    static let alive = "HTTP/1.1 200 OK alive"

    @Test("an answer says when it was made")
    func date() async throws {
        #expect(httpDate(784_111_777) == "Sun, 06 Nov 1994 08:49:37 GMT")
        #expect(httpDate(1_709_164_800) == "Thu, 29 Feb 2024 00:00:00 GMT")
        let head = try await Self.with { try HTTPAnswer(port: $0, path: "/healthz").head }
        #expect(head.contains(/date: ..., \d\d ... \d{4} \d\d:\d\d:\d\d gmt/), "\(head)")
    }

    @Test("alive at once, ready only while requests are served, metrics as they are now")
    func routes() async throws {
        let health = Health()
        try await Self.with(health: health) { port in
            func get(_ path: String) throws -> HTTPAnswer { try HTTPAnswer(port: port, path: path) }
            #expect(try get("/healthz").status == 200)
            #expect(try get("/readyz").status == 503)
            #expect(try get("/readyz").field("retry-after") == "1")
            #expect(try get("/readyz").body == "starting\n")
            health.state = .ready
            #expect(try get("/readyz").status == 200)
            let metrics = try get("/metrics")
            #expect(metrics.body == "geobucket_objects 3\n")
            #expect(metrics.head.contains("text/plain; version=0.0.4"))
            health.state = .draining
            #expect(try get("/readyz").status == 503)
            #expect(try get("/healthz").status == 200)
            #expect(try get("/other").status == 404)
        }
    }

    @Test func `Another method than GET and HEAD is told which there are`() async throws {
        try await Self.with { port in
            for method in ["POST", "PUT", "DELETE", "PATCH", "OPTIONS"] {
                for (path, status) in [
                    ("healthz", 405), ("readyz", 405), ("metrics", 405), ("none", 404),
                ] {
                    let answer = try HTTPAnswer(port: port, path: "/" + path, method: method)
                    #expect(answer.status == status, "\(method) \(path)")
                    #expect(
                        answer.head.contains("allow: get, head") == (status == 405),
                        "\(method) \(path)")
                }
            }
            let head = try HTTPAnswer(port: port, path: "/metrics", method: "HEAD")
            #expect(head.status == 200)
            #expect(head.head.contains("content-length: 20"))
            #expect(head.body == "")
        }
    }

    @Test func `A connection ends or goes on as HTTP's version and its client say`() async throws {
        try await Self.with { port in
            for (version, header, goesOn, told) in [
                ("1.0", "", false, "close"),
                ("1.0", "Connection: keep-alive\r\n", true, "keep-alive"),
                ("1.0", "Connection: close\r\n", false, "close"), ("1.1", "", true, nil),
                ("1.1", "Connection: Close\r\n", false, "close"),
            ] as [(String, String, Bool, String?)] {
                try RawConnection.with(port: port) { raw in
                    let request = "GET /healthz HTTP/\(version)\r\nHost: localhost\r\n\(header)\r\n"
                    try raw.send(request)
                    var lines: [String] = []
                    while let line = try raw.line(), line != "\r" {
                        lines.append(line.lowercased())
                    }
                    #expect(try raw.line() == "alive")
                    let connection = lines.first { $0.hasPrefix("connection:") }
                    #expect(
                        connection == told.map { "connection: \($0)\r" }, "\(version) \(header)")
                    if goesOn {
                        try raw.send(request)
                        #expect(try Self.answer(raw) == Self.alive)
                    } else {
                        // The end comes by itself, however long the client would wait.
                        #expect(try raw.line() == nil)
                    }
                }
            }
            // What comes behind the last request is not answered.
            try RawConnection.with(port: port) { raw in
                try raw.send("GET /healthz HTTP/1.0\r\n\r\nGET /healthz HTTP/1.0\r\n\r\n")
                #expect(try Self.answer(raw) == Self.alive)
                #expect(try raw.line() == nil)
            }
        }
    }

    @Test func `Connections that wait give way to new ones, the oldest first`() async throws {
        var limits = Limits()
        limits.httpConnections = 3
        try await Self.with(limits) { port in
            try RawConnection.with(port: port) { first in
                try first.send(Self.get)
                #expect(try Self.answer(first) == Self.alive)
                try RawConnection.with(port: port) { second in
                    // Half a request is none.
                    try second.send("GET /healthz HTTP/1.1\r\nHost:")
                    try RawConnection.with(port: port) { third in
                        try third.send(Self.get)
                        #expect(try Self.answer(third) == Self.alive)
                        // As many as there may be, and all go on.
                        try first.send(Self.get)
                        #expect(try Self.answer(first) == Self.alive)
                        for _ in 0..<10 {
                            #expect(try HTTPAnswer(port: port, path: "/healthz").status == 200)
                        }
                        #expect(try second.line() == nil)
                    }
                }
            }
        }
    }

    @Test func `Hundreds of connections that say nothing keep nobody out`() async throws {
        try await Self.with { port in
            try RawConnection.with(port: port, count: 300) { _ in
                for path in ["/healthz", "/readyz", "/metrics"] {
                    let status = try HTTPAnswer(port: port, path: path).status
                    #expect(status == (path == "/readyz" ? 503 : 200), "\(path)")
                }
            }
        }
    }

    @Test func `An address that holds many connections gives way before others`() async throws {
        var limits = Limits()
        limits.httpConnections = 4
        try await Self.with(limits) { port in
            try RawConnection.with(port: port, from: "127.0.0.2") { other in
                try other.send(Self.get)
                #expect(try Self.answer(other) == Self.alive)
                try RawConnection.with(port: port, count: 20) { many in
                    for raw in many[18...] {
                        try raw.send(Self.get)
                        #expect(try Self.answer(raw) == Self.alive)
                    }
                    try other.send(Self.get)
                    #expect(try Self.answer(other) == Self.alive)
                }
            }
        }
    }

    @Test func `A request that does not come in time ends its connection`() async throws {
        var limits = Limits()
        limits.httpRequestMilliseconds = 100
        try await Self.with(limits) { port in
            try RawConnection.with(port: port) { raw in
                let end = try raw.line()
                #expect(end == nil)
            }
            try RawConnection.with(port: port) { raw in
                try raw.send("GET /healthz HTTP/1.1\r\nX: ")
                #expect(try raw.line() == nil)
            }
        }
        // An answer has as long; on a busy machine a short time is over before it.
        for milliseconds in [1_000, 4_000, 16_000] {
            if try await Self.ends(after: milliseconds) { return }
        }
        Issue.record("no answer came in time")
    }

    /// Whether an answer comes within the time that an idle connection has, after which the connection
    /// has to end.
    private static func ends(after milliseconds: Int) async throws -> Bool {
        var limits = Limits()
        limits.httpIdleMilliseconds = milliseconds
        return try await with(limits) { port in
            try RawConnection.with(port: port) { raw in
                try raw.send(get)
                guard (try? answer(raw)) == alive else { return false }
                #expect(try raw.line() == nil)
                return true
            }
        }
    }
}
