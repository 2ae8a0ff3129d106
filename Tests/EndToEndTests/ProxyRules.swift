import GeoBucketClient
import Objects
import QueryServer
import TestSupport
import Testing
import WebServer

/// Clients behind a proxy, which says for whom it connects. The proxy is at 127.0.0.2.
@Suite(.timeLimit(.minutes(5))) struct ProxyRules {
    private static let proxy = "127.0.0.2"

    private static func with(
        limits: Limits = Limits(),
        _ body: @escaping @Sendable (TestService) async throws -> Void
    ) async throws {
        let web = WebPort.Settings(host: "127.0.0.1", port: 0, hosts: .loopback)
        try await TestService.with(
            limits: limits, web: web, proxies: try TrustedProxies("127.0.0.2/31")
        ) { try await body($0) }
    }

    private static func header(_ client: String) -> String {
        "PROXY TCP4 \(client) 127.0.0.1 5 4362\r\n"
    }

    private static func binary(_ client: [UInt8]) -> [UInt8] {
        Array("\r\n\r\n\u{0}\r\nQUIT\n".utf8) + [0x21, 0x11, 0, 12] + client
            + [127, 0, 0, 1, 0, 5, 0x11, 0x0A]
    }

    @Test func `Connections through a proxy are counted for their clients`() async throws {
        var limits = Limits()
        limits.connectionsPerAddress = 2
        try await Self.with(limits: limits) { service in
            try RawConnection.with(port: service.port, from: Self.proxy) { first in
                try first.send(Self.header("192.0.2.1") + FramingRules.ping())
                #expect(try first.line() == FramingRules.pong())
                try RawConnection.with(port: service.port, from: Self.proxy) { second in
                    try second.send(Self.binary([192, 0, 2, 1]) + Array(FramingRules.ping().utf8))
                    #expect(try second.line() == FramingRules.pong())
                    // A third of that client is one too many; one of another is not.
                    for (client, isAdmitted) in [("192.0.2.1", false), ("192.0.2.2", true)] {
                        try RawConnection.with(port: service.port, from: Self.proxy) { third in
                            try third.send(Self.header(client) + FramingRules.ping())
                            let code = try FramingRules.code(try third.line())
                            #expect((code == "no error") == isAdmitted, "\(client): \(code)")
                        }
                    }
                    try second.send(FramingRules.ping("2"))
                    #expect(try second.line() == FramingRules.pong("2"))
                }
            }
        }
    }

    @Test func `A header may come a byte at a time, and what follows it too`() async throws {
        try await Self.with { service in
            try RawConnection.with(port: service.port, from: Self.proxy) { raw in
                let text = Self.binary([192, 0, 2, 1]) + Array(FramingRules.ping().utf8)
                for byte in text { try raw.send([byte]) }
                #expect(try raw.line() == FramingRules.pong())
                try raw.finishSending()
                #expect(try raw.remainingLines() == [])
            }
        }
    }

    @Test func `A proxy that says nothing of the client is refused, and its lines are not run`()
        async throws
    {
        try await Self.with { service in
            for text in [FramingRules.ping(), "GET / HTTP/1.1\r\n\r\n" + FramingRules.ping()] {
                try RawConnection.with(port: service.port, from: Self.proxy) { raw in
                    try raw.send(text)
                    let lines = try raw.remainingLines()
                    #expect(lines.count == 1)
                    #expect(try FramingRules.code(lines.first) == "-32600 INVALID_REQUEST id null")
                    #expect(lines.first?.contains("--trust-proxy") == true)
                }
            }
        }
    }

    @Test func `A header from anybody else is refused, and what follows is not run`() async throws {
        try await Self.with { service in
            for text in [Array(Self.header("192.0.2.1").utf8), Self.binary([192, 0, 2, 1])] {
                try RawConnection.with(port: service.port) { raw in
                    try raw.send(text + Array(FramingRules.ping().utf8))
                    let lines = try raw.remainingLines()
                    #expect(lines.count == 1)
                    #expect(try FramingRules.code(lines.first) == "-32700 INVALID_JSON id null")
                }
            }
        }
    }

    @Test func `Where the service has TLS, the header comes before it, in the clear`() async throws
    {
        try await withTemporaryFolder { folder in
            let authority = try TestAuthority(folder: folder)
            let server = try authority.issue("server")
            let identity = try TLSIdentity(.init(certificate: server.certificate, key: server.key))
            let client = ClientTLS(certificateAuthority: authority.certificate)
            let proxies = try TrustedProxies(Self.proxy)
            try await TestService.with(tls: (identity, client), proxies: proxies) { service in
                try RawConnection.with(port: service.port, from: Self.proxy) { raw in
                    try raw.send(Self.header("192.0.2.1") + FramingRules.ping())
                    #expect(try raw.line()?.contains("this port speaks TLS") == true)
                }
                // What TLS makes of a greeting that is none of its own is an alert.
                let hello: [UInt8] = [0x16, 0x03, 0x01, 0x00, 0x05, 0x01, 0x00, 0x00, 0x01, 0x03]
                try RawConnection.with(port: service.port, from: Self.proxy) { raw in
                    try raw.send(Self.binary([192, 0, 2, 1]) + hello)
                    #expect(try raw.remainingBytes().first == 0x15)
                }
            }
        }
    }

    @Test func `A proxy that keeps its header to itself is not waited for`() async throws {
        var limits = Limits()
        limits.handshakeMilliseconds = 500
        try await Self.with(limits: limits) { service in
            try RawConnection.with(port: service.port, from: Self.proxy) { raw in
                try raw.send("PROXY TCP4 ")
                #expect(try raw.line() == nil)
            }
        }
    }

    /// How a ping at the web port ends.
    private static func status(_ fields: String, from host: String, _ port: Int) throws -> String {
        try RawConnection.with(port: port, from: host) { raw in
            let body = #"{"jsonrpc":"2.0","id":1,"method":"server.ping"}"#
            try raw.send(
                "POST /rpc HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
                    + "Content-Type: application/json\r\nContent-Length: \(body.count)\r\n"
                    + fields + "\r\n" + body)
            let answer = String(decoding: try raw.remainingBytes(), as: UTF8.self)
            return answer.contains("TOO_MANY_REQUESTS")
                ? "429" : String(answer.dropFirst("HTTP/1.1 ".count).prefix(3))
        }
    }

    @Test func `Requests through a proxy are counted for their clients at the web port`()
        async throws
    {
        var limits = Limits()
        limits.requestsPerSecond = 1
        try await Self.with(limits: limits) { service in
            for (fields, host, expected) in [
                ("X-Forwarded-For: 192.0.2.1\r\n", Self.proxy, "200"),
                ("Forwarded: for=192.0.2.2\r\n", Self.proxy, "200"),
                // What a client makes up stands before what the proxy has appended.
                ("X-Forwarded-For: 192.0.2.9, 192.0.2.3, 127.0.0.3\r\n", Self.proxy, "200"),
                ("X-Forwarded-For: 192.0.2.8, 192.0.2.3\r\n", Self.proxy, "429"),
                ("Forwarded: for=192.0.2.7\r\nX-Forwarded-For: 192.0.2.4\r\n", Self.proxy, "400"),
                // Nobody else is believed.
                ("X-Forwarded-For: 192.0.2.5\r\n", "127.0.0.9", "200"),
                ("X-Forwarded-For: 192.0.2.6\r\n", "127.0.0.9", "429"),
            ] {
                let status = try await onBlockingThreads {
                    try Self.status(fields, from: host, service.webPort)
                }
                #expect(status == expected, "\(fields)")
            }
        }
    }
}
