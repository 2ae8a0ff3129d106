import GeoBucketClient
import TestSupport
import Testing

/// The Swift client against a service with TLS and tokens.
@Suite struct SecureClientTests {
    @Test func `A client comes by TLS, logs in, and owns what it makes`() async throws {
        try await withTemporaryFolder { folder in
            let authority = try TestAuthority(folder: folder)
            let identity = try authority.issue("server")
            let created = try await Program.run(
                [
                    "token", "create", "--tokens", folder + "/tokens", "--principal", "alice",
                    "--role", "write",
                ], folder: folder)
            #expect(created.status == 0, "\(created.errors)")
            try await Program.serve(
                store: folder + "/s.sqlite", folder: folder,
                flags: [
                    "--tokens", folder + "/tokens", "--tls-certificate", identity.certificate,
                    "--tls-key", identity.key,
                ]
            ) { _, port in
                let address = ServiceAddress(host: "127.0.0.1", port: port)
                let token = String(created.output.dropLast())
                let authorities = authority.certificate
                var configuration = ClientConfiguration()
                configuration.token = token
                configuration.tls = ClientTLS(certificateAuthority: authorities)
                try await GeoBucketClient.with(address, configuration: configuration) { client in
                    let note = client.bucket("notes", in: .user("alice")).createObject()
                    try await note.save()
                    try await note.refresh()
                    #expect(note.owner == "alice")
                }
                configuration.token = "wrong"
                #expect(try await Self.failure(address, configuration).contains("WRONG_TOKEN"))
                configuration.tls = ClientTLS()
                #expect(try await Self.failure(address, configuration).contains("TLS"))
            }
        }
    }

    /// Why a client does not even connect.
    private static func failure(
        _ address: ServiceAddress, _ configuration: ClientConfiguration
    ) async throws -> String {
        do {
            try await GeoBucketClient.with(address, configuration: configuration) { _ in }
            return "connected"
        } catch let failure as ClientFailure {
            return failure.description
        }
    }
}
