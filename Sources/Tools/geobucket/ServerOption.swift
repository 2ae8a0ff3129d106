import ArgumentParser
import GeoBucketClient

/// The service that a client command connects to.
struct ServerOption: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The service's address; geobuckets://HOST:PORT uses TLS. (default: $GEOBUCKET_SERVER, else \(Address.standard))",
            valueName: "host:port"), transform: ServerAddress.argument)
    var server: ServerAddress?

    @OptionGroup var flags: ConnectionFlags

    /// Runs `body` on a connection; failures become messages.
    func connect<Result: Sendable>(
        _ body: (LineConnection) async throws -> Result
    ) async throws -> Result {
        try await flags.connect(to: try location(), body)
    }

    /// A failed call, with what would mend it.
    func explained(_ failure: ClientFailure) throws -> CommandFailure {
        try flags.explained(failure, of: try location())
    }

    /// The address of the flag, else of the environment, else the standard one.
    func address() throws -> Address { try location().address }

    func token() throws -> String? { try flags.token() }

    func clientTLS() throws -> ClientTLS? { try flags.clientTLS(for: try location()) }

    func location() throws -> ServerAddress {
        if let server { return server }
        guard let text = Files.environment("GEOBUCKET_SERVER") else { return .standard }
        guard let server = ServerAddress(text) else {
            throw ValidationError("GEOBUCKET_SERVER is \"\(text)\"; \(ServerAddress.expected)")
        }
        return server
    }
}

/// A store's file, or a service in its place.
struct StoreOption: ParsableArguments {
    @Option(
        help: ArgumentHelp("The store's file. (default: ./geobucket.sqlite)", valueName: "path"))
    var store: String?

    @Option(
        help: ArgumentHelp(
            "A running service in place of a file; the environment names none here.",
            valueName: "host:port"), transform: ServerAddress.argument)
    var server: ServerAddress?

    @OptionGroup var flags: ConnectionFlags

    func validate() throws {
        if server != nil, store != nil {
            throw ValidationError("--server and --store exclude each other")
        }
        if server == nil, let flag = flags.given {
            throw ValidationError("\(flag) needs --server")
        }
    }

    var path: String { store ?? Serve.defaultStore }

    /// What it is called: the path, or the service's address.
    var name: String { server.map { "\($0.address)" } ?? path }

    /// Runs `body` on a connection to the service.
    func connect<Result: Sendable>(
        to server: ServerAddress, _ body: (LineConnection) async throws -> Result
    ) async throws -> Result {
        try await flags.connect(to: server, body)
    }
}
