import ArgumentParser
import GeoBucketClient

/// Which service a client command talks to.
struct ServerOption: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The service's address. (default: $GEOBUCKET_SERVER, else \(Address.standard))",
            valueName: "host:port"))
    var server: Address?

    /// Runs `body` on a connection; failures become sentences.
    func connect<Result: Sendable>(
        _ body: (LineConnection) async throws -> Result
    ) async throws -> Result {
        let address = try server ?? fromEnvironment() ?? .standard
        do {
            return try await LineConnection.with(host: address.host, port: address.port, body)
        } catch let failure as ClientFailure {
            throw CommandFailure(failure.description)
        }
    }

    private func fromEnvironment() throws -> Address? {
        guard let text = Files.environment("GEOBUCKET_SERVER") else { return nil }
        guard let address = Address(argument: text) else {
            throw ValidationError("GEOBUCKET_SERVER: \"\(text)\" is no HOST:PORT")
        }
        return address
    }
}
