import ArgumentParser
import GeoBucketClient

/// How a client command connects to a service, wherever that is: TLS and the login.
struct ConnectionFlags: ParsableArguments {
    @Flag(help: "Use TLS; the other --tls flags imply it.")
    var tls = false

    @Option(
        help: ArgumentHelp(
            "Roots of the service's certificate. (default: $GEOBUCKET_TLS_CA, else the system's)",
            valueName: "path"))
    var tlsCa: String?

    @Option(help: ArgumentHelp("The client's own certificate.", valueName: "path"))
    var tlsCertificate: String?

    @Option(help: ArgumentHelp("Its private key.", valueName: "path"))
    var tlsKey: String?

    @Option(
        help: ArgumentHelp(
            "A file with the token to log in with. (default: the token in $GEOBUCKET_TOKEN)",
            valueName: "path"))
    var tokenFile: String?

    /// The first flag that is given; nil if none is.
    var given: String? {
        let flags = [
            ("--tls", tls), ("--tls-ca", tlsCa != nil),
            ("--tls-certificate", tlsCertificate != nil), ("--tls-key", tlsKey != nil),
            ("--token-file", tokenFile != nil),
        ]
        return flags.first { $0.1 }?.0
    }

    /// Runs `body` on a connection; failures become messages.
    func connect<Result: Sendable>(
        to server: ServerAddress, _ body: (LineConnection) async throws -> Result
    ) async throws -> Result {
        try AddressSpace.check()
        do {
            let token = try token()
            return try await LineConnection.with(
                host: server.address.host, port: server.address.port,
                tls: try clientTLS(for: server)
            ) { connection in
                if let token { try await connection.logIn(token: token) }
                return try await body(connection)
            }
        } catch let failure as ClientFailure {
            throw try explained(failure, of: server)
        }
    }

    /// A failed call, with what would mend it.
    func explained(
        _ failure: ClientFailure, of server: ServerAddress
    ) throws -> CommandFailure {
        let missingToken =
            try token() == nil ? "--token-file, or the token in $GEOBUCKET_TOKEN" : nil
        return CommandFailure(
            failure, at: server.address, usesTLS: try clientTLS(for: server) != nil,
            token: missingToken)
    }

    func token() throws -> String? {
        guard let tokenFile else { return Files.environment("GEOBUCKET_TOKEN") }
        let text = String(decoding: try Files.contents(of: tokenFile), as: UTF8.self)
        return String(text.prefix { !$0.isWhitespace })
    }

    func clientTLS(for server: ServerAddress) throws -> ClientTLS? {
        let authority = tlsCa ?? Files.environment("GEOBUCKET_TLS_CA")
        guard
            tls || server.usesTLS || authority != nil || tlsCertificate != nil || tlsKey != nil
        else { return nil }
        guard ClientTLS.isAvailable else { throw CommandFailure(without: "TLS", "--tls") }
        switch (tlsCertificate, tlsKey) {
        case (nil, nil): return ClientTLS(certificateAuthority: authority)
        case (let certificate?, let key?):
            return ClientTLS(certificateAuthority: authority, identity: (certificate, key))
        default: throw ValidationError("--tls-certificate and --tls-key go together")
        }
    }
}
