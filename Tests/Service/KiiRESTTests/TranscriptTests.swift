import Objects
import ServiceDesk
import TestSupport
import Testing
import WebServer

/// Kii's REST interface, call by call: status, fields, media type and body.
@Suite(.timeLimit(.minutes(5))) struct TranscriptTests {
    /// The moment of all requests: `Wed, 12 Jun 2013 01:53:57 GMT`.
    private static let now: @Sendable () -> Int64 = { 1_371_002_037_000 }

    private static func play(
        _ name: String, _ kii: KiiSettings = KiiSettings(app: "myapp"), limits: Limits = Limits(),
        access: AccessControl? = nil, names: [String: String] = [:]
    ) async throws {
        var settings = WebPort.Settings(
            host: "127.0.0.1", port: 0, hosts: access == nil ? .loopback : .any)
        settings.kii = kii
        settings.url = "http://kii.example"
        try await TestService.with(
            limits: limits, access: access, web: settings, monotonic: TestClock(), now: Self.now
        ) { service in
            var transcript = try Transcript(name, names: names)
            #expect(!transcript.exchanges.isEmpty)
            try await transcript.play(on: service.webPort, of: name)
        }
    }

    @Test(arguments: [
        "objects", "versions", "merges", "types", "bodies", "buckets", "queries", "scopes", "paths",
    ])
    func `Each call is answered as it is written`(name: String) async throws {
        try await Self.play(name)
    }

    @Test func `What published clients send is answered as they expect`() async throws {
        try await Self.play("clients", KiiSettings(app: "myapp", key: "mykey"))
    }

    @Test func `Where the application has a key, clients send it, or a token`() async throws {
        try await Self.withTokens { access, names in
            try await Self.play(
                "keys", KiiSettings(app: "myapp", key: "mykey", anonymous: .write), access: access,
                names: names)
        }
    }

    @Test func `A token's principal reaches what it reaches on the line port`() async throws {
        try await Self.withTokens { access, names in
            try await Self.play("tokens", access: access, names: names)
        }
    }

    @Test func `Anonymous callers that may write do so in the application's scope`() async throws {
        try await Self.withTokens { access, names in
            try await Self.play(
                "anonymous-write", KiiSettings(app: "myapp", anonymous: .write), access: access,
                names: names)
        }
        try await Self.play("anonymous-write", KiiSettings(app: "myapp", anonymous: .write))
    }

    @Test func `Anonymous callers that may read change nothing`() async throws {
        try await Self.play("anonymous-read", KiiSettings(app: "myapp", anonymous: .read))
    }

    @Test func `Anonymous callers that may do nothing have to log in`() async throws {
        try await Self.play(
            "anonymous-none", KiiSettings(app: "myapp", anonymous: AnonymousAccess.none))
    }

    @Test func `Bodies and objects that are too large are refused as Kii does`() async throws {
        var limits = Limits()
        (limits.objectBytes, limits.lineBytes) = (40, 1_024)
        try await Self.play("sizes", limits: limits)
    }

    @Test func `Anonymous callers are limited by address`() async throws {
        var limits = Limits()
        limits.requestsPerSecond = 1
        try await Self.play(
            "rates", KiiSettings(app: "myapp", anonymous: .read), limits: limits)
    }

    /// Runs `body` with tokens of `alice` (write), `rita` (read) and `root` (admin).
    private static func withTokens(
        _ body: (AccessControl, [String: String]) async throws -> Void
    ) async throws {
        var (file, names) = (TokenFile(), [String: String]())
        for (principal, role) in [("alice", Grant.Role.write), ("rita", .read), ("root", .admin)] {
            let token = Token()
            let groups: Set<String> = principal == "alice" ? ["drivers"] : []
            file.add(
                .init(
                    token, try Grant(principal: principal, role: role, groups: groups), created: 0))
            names[principal] = token.text
        }
        try await body(AccessControl(tokens: file), names)
    }
}
