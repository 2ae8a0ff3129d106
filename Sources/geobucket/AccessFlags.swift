import ArgumentParser
import Logging
import Operations
import QueryServer

/// The flags of `serve` that say who may connect and what they may do.
struct AccessFlags: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The tokens file: clients have to log in. See `geobucket token`.", valueName: "path"))
    var tokens: String?

    @Flag(help: "Let everybody do everything, on an address that others can reach too.")
    var insecure = false

    @Option(
        help: ArgumentHelp(
            "The service's certificate and those that lead to its root: clients have to use TLS.",
            valueName: "path"))
    var tlsCertificate: String?

    @Option(help: ArgumentHelp("The certificate's private key.", valueName: "path"))
    var tlsKey: String?

    @Option(
        help: ArgumentHelp(
            "Roots of the certificates that clients have to show.", valueName: "path"))
    var tlsClientCa: String?

    /// The tokens file, watched; nil when there is none.
    func tokens(
        _ settings: Settings, logger: Logger
    ) throws -> (access: AccessControl, watched: WatchedTokens)? {
        guard let path = settings.string("tokens", flag: tokens) else { return nil }
        let store = TokenStore(path: path)
        let watched = WatchedTokens(store, logger: logger)
        return (AccessControl(tokens: try store.load(), newest: watched.newest), watched)
    }

    /// Nil when connections are without TLS.
    func tls(_ settings: Settings) throws -> TLSIdentity? {
        let certificate = settings.string("tlsCertificate", flag: tlsCertificate)
        let key = settings.string("tlsKey", flag: tlsKey)
        let authority = settings.string("tlsClientCa", flag: tlsClientCa)
        guard let certificate, let key else {
            guard certificate == nil, key == nil, authority == nil else {
                throw ValidationError("TLS needs both --tls-certificate and --tls-key")
            }
            return nil
        }
        do {
            return try TLSIdentity(.init(certificate: certificate, key: key, clientCA: authority))
        } catch {
            throw CommandFailure("TLS cannot be set up from these files: \(error)")
        }
    }

    /// Refuses what would be open to a whole network.
    func check(_ address: Address, hasTokens: Bool, _ settings: Settings) throws {
        guard !address.isLoopback, !hasTokens else { return }
        guard try settings.bool("insecure", flag: insecure) else {
            throw ValidationError(
                "\(address) can be reached by others, who could read and write everything: give "
                    + "--tokens, or --insecure if that is meant")
        }
    }
}
