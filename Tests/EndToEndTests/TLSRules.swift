import GeoBucketClient
import Glibc
import QueryServer
import TestSupport
import Testing

/// Connections by TLS, and clients that mistake the port.
@Suite struct TLSRules {
    struct Secured: Sendable {
        let service: TestService
        let authority: TestAuthority
        let identity: TLSIdentity
        let client: ClientTLS
    }

    /// - Parameter demandsClient: whether clients have to show a certificate of the same authority.
    static func with(
        demandsClient: Bool = false, _ body: @escaping @Sendable (Secured) async throws -> Void
    ) async throws {
        try await withTemporaryFolder { folder in
            let authority = try TestAuthority(folder: folder)
            let server = try authority.issue("server")
            let identity = try TLSIdentity(
                .init(
                    certificate: server.certificate, key: server.key,
                    clientCA: demandsClient ? authority.certificate : nil))
            var client = ClientTLS(certificateAuthority: authority.certificate)
            if demandsClient {
                let own = try authority.issue("client")
                client.identity = (own.certificate, own.key)
            }
            try await TestService.with(tls: (identity, client)) { [client] service in
                try await body(
                    Secured(
                        service: service, authority: authority, identity: identity, client: client))
            }
        }
    }

    /// How a connection and a ping end.
    private static func ping(_ port: Int, _ tls: ClientTLS?) async throws -> String {
        do {
            return try await LineConnection.with(host: "127.0.0.1", port: port, tls: tls) {
                String(decoding: try await $0.call("server.ping", Array("{}".utf8)), as: UTF8.self)
            }
        } catch let failure as ClientFailure {
            return failure.description
        }
    }

    @Test func `Everything goes through TLS as it does without`() async throws {
        try await Self.with { secured in
            let long = String(repeating: "x", count: 60_000)
            for number in 0..<40 {
                _ = try await secured.service.put("o\(number)", #"{"a":"\#(long)"}"#)
            }
            let pages = (0..<8).map { _ in
                secured.service.connection.begin("bucket.query", Array(#"{"bucket":"b1"}"#.utf8))
            }
            for page in pages {
                let answer = try JSONValue(
                    parsing: try LineConnection.result(of: try await page.value()))
                #expect(answer.ids == (0..<16).map { "o\($0)" })
            }
        }
    }

    @Test func `A client that speaks without TLS to a TLS port is told so and closed`() async throws
    {
        try await Self.with { secured in
            try RawConnection.with(port: secured.service.port) { raw in
                try raw.send(FramingRules.ping())
                let line = try raw.line()
                #expect(try FramingRules.code(line) == "-32600 INVALID_REQUEST id null")
                #expect(line?.contains("TLS") == true)
                #expect(try raw.line() == nil)
            }
            let told = try await Self.ping(secured.service.port, nil)
            #expect(told.contains("this port speaks TLS"), "\(told)")
        }
    }

    @Test func `A client of TLS on a port without it gets TLS's own alert and is closed`()
        async throws
    {
        try await withTemporaryFolder { folder in
            let authority = try TestAuthority(folder: folder)
            try await TestService.with { service in
                let hello: [UInt8] = [0x16, 0x03, 0x01, 0x00, 0x05, 0x01, 0x00, 0x00, 0x01, 0x03]
                try RawConnection.with(port: service.port) { raw in
                    try raw.send(hello)
                    #expect(try raw.remainingBytes() == [0x15, 0x03, 0x01, 0x00, 0x02, 0x02, 0x28])
                }
                let told = try await Self.ping(
                    service.port, ClientTLS(certificateAuthority: authority.certificate))
                #expect(
                    told == "no secure connection to 127.0.0.1:\(service.port): "
                        + "the service refuses TLS, or does not speak it", "\(told)")
                #expect(try await service.text("server.ping") == "\"pong\"")
            }
        }
    }

    @Test func `No suite without forward secrecy is spoken, nor a version before 1.2`()
        async throws
    {
        try await withTemporaryFolder { folder in
            let authority = try TestAuthority(folder: folder)
            // Only with such a key are there suites without forward secrecy.
            let server = try authority.issue("server", key: ["rsa:2048"])
            let identity = try TLSIdentity(
                .init(certificate: server.certificate, key: server.key))
            let client = ClientTLS(certificateAuthority: authority.certificate)
            try await TestService.with(tls: (identity, client)) { service in
                for (flags, isSpoken) in [
                    (["-tls1_2", "-cipher", "ECDHE+AESGCM"], true),
                    (["-tls1_2", "-cipher", "ECDHE+CHACHA20"], true), (["-tls1_3"], true),
                    (["-tls1_2", "-cipher", "kRSA"], false),
                    (["-tls1_2", "-cipher", "DHE"], false),
                    (["-tls1_1", "-cipher", "ALL:@SECLEVEL=0"], false),
                ] {
                    let process = try ChildProcess.start(
                        "/usr/bin/openssl",
                        ["s_client", "-connect", "127.0.0.1:\(service.port)"] + flags,
                        folder: folder)
                    let status = await process.end()
                    #expect((status == 0) == isSpoken, "\(flags): \(process.standardError)")
                }
            }
        }
    }

    @Test func `Who does not know the authority does not connect`() async throws {
        try await Self.with { secured in
            try await withTemporaryFolder { folder in
                let stranger = try TestAuthority(folder: folder)
                let told = try await Self.ping(
                    secured.service.port, ClientTLS(certificateAuthority: stranger.certificate))
                #expect(!told.contains("geobucket serve"), "\(told)")
                #expect(told.contains("certificate is not trusted"), "\(told)")
                #expect(told.contains("--tls-ca PATH"), "\(told)")
                let nowhere = folder + "/nowhere.pem"
                #expect(
                    try await Self.ping(
                        secured.service.port, ClientTLS(certificateAuthority: nowhere))
                        == "\(nowhere): no certificates in PEM can be read there")
                #expect(try await Self.ping(secured.service.port, secured.client) == "\"pong\"")
            }
        }
    }

    @Test func `A certificate of another host is refused by its name`() async throws {
        try await Self.with { secured in
            _ = try secured.authority.issue("server", names: "DNS:elsewhere.example")
            try secured.identity.reload()
            let told = try await Self.ping(secured.service.port, secured.client)
            #expect(told.contains("certificate does not name 127.0.0.1"), "\(told)")
        }
    }

    @Test func `Where clients have to show a certificate, those without one are refused`()
        async throws
    {
        try await Self.with(demandsClient: true) { secured in
            #expect(try await Self.ping(secured.service.port, secured.client) == "\"pong\"")
            try await withTemporaryFolder { folder in
                let stranger = try TestAuthority(folder: folder).issue("stranger")
                for identity in [nil, (stranger.certificate, stranger.key)] {
                    var client = ClientTLS(certificateAuthority: secured.authority.certificate)
                    client.identity = identity
                    let told = try await Self.ping(secured.service.port, client)
                    #expect(told != "\"pong\"", "\(told)")
                }
            }
        }
    }

    @Test func `New certificates serve new connections, and those that are open go on`()
        async throws
    {
        try await Self.with { secured in
            let port = secured.service.port
            #expect(try await secured.service.text("server.ping") == "\"pong\"")
            // The authority and its certificates are made anew in the same places.
            let folder = String(secured.authority.certificate.dropLast("/ca.pem".count))
            let renewed = try TestAuthority(folder: folder)
            _ = try renewed.issue("server")
            let client = ClientTLS(certificateAuthority: renewed.certificate)
            #expect(try await Self.ping(port, client).contains("certificate is not trusted"))
            try secured.identity.reload()
            #expect(try await Self.ping(port, client) == "\"pong\"")
            #expect(try await secured.service.text("server.ping") == "\"pong\"")
            // Files that make no sense change nothing.
            unlink(folder + "/server.key")
            #expect(throws: (any Error).self) { try secured.identity.reload() }
            #expect(try await Self.ping(port, client) == "\"pong\"")
        }
    }
}
