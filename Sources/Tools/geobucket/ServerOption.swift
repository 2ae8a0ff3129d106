import ArgumentParser
import GeoBucketClient

/// The service that a client command connects to.
struct ServerOption: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The service's address; geobuckets://HOST:PORT uses TLS. (default: $GEOBUCKET_SERVER, else \(Address.standard))",
            valueName: "host:port"), transform: ServerAddress.argument)
    var server: ServerAddress?

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

    /// Refuses a store's path together with a service's address, and without an address the flags
    /// that say how to reach a service.
    func refuse(with store: String?) throws {
        if server != nil, store != nil {
            throw ValidationError("--server and --store exclude each other")
        }
        let flags = [
            ("--tls", tls), ("--tls-ca", tlsCa != nil),
            ("--tls-certificate", tlsCertificate != nil), ("--tls-key", tlsKey != nil),
            ("--token-file", tokenFile != nil),
        ]
        if server == nil, let (flag, _) = flags.first(where: { $0.1 }) {
            throw ValidationError("\(flag) needs --server")
        }
    }

    /// Runs `body` on a connection; failures become messages.
    func connect<Result: Sendable>(
        _ body: (LineConnection) async throws -> Result
    ) async throws -> Result {
        let address = try address()
        try AddressSpace.check()
        do {
            let token = try token()
            return try await LineConnection.with(
                host: address.host, port: address.port, tls: try clientTLS()
            ) { connection in
                if let token { try await connection.logIn(token: token) }
                return try await body(connection)
            }
        } catch let failure as ClientFailure {
            throw try explained(failure)
        }
    }

    /// A failed call, with what would mend it.
    func explained(_ failure: ClientFailure) throws -> CommandFailure {
        let missingToken =
            try token() == nil ? "--token-file, or the token in $GEOBUCKET_TOKEN" : nil
        return CommandFailure(
            failure, at: try address(), usesTLS: try clientTLS() != nil, token: missingToken)
    }

    /// The address of the flag, else of the environment, else the standard one.
    func address() throws -> Address { try location().address }

    private func location() throws -> ServerAddress { try server ?? fromEnvironment() ?? .standard }

    func token() throws -> String? {
        guard let tokenFile else { return Files.environment("GEOBUCKET_TOKEN") }
        let text = String(decoding: try Files.contents(of: tokenFile), as: UTF8.self)
        return String(text.prefix { !$0.isWhitespace })
    }

    func clientTLS() throws -> ClientTLS? {
        let authority = tlsCa ?? Files.environment("GEOBUCKET_TLS_CA")
        let isWanted = try tls || location().usesTLS
        guard isWanted || authority != nil || tlsCertificate != nil || tlsKey != nil else {
            return nil
        }
        guard ClientTLS.isAvailable else { throw CommandFailure(without: "TLS", "--tls") }
        switch (tlsCertificate, tlsKey) {
        case (nil, nil): return ClientTLS(certificateAuthority: authority)
        case (let certificate?, let key?):
            return ClientTLS(certificateAuthority: authority, identity: (certificate, key))
        default: throw ValidationError("--tls-certificate and --tls-key go together")
        }
    }

    private func fromEnvironment() throws -> ServerAddress? {
        guard let text = Files.environment("GEOBUCKET_SERVER") else { return nil }
        guard let server = ServerAddress(text) else {
            throw ValidationError("GEOBUCKET_SERVER is \"\(text)\"; \(ServerAddress.expected)")
        }
        return server
    }
}
