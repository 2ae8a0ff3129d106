import ArgumentParser
import Logging
import Objects
import QueryServer
import Runtime
import ServiceDesk

/// The flags of `serve` for logins, tokens and TLS.
struct AccessFlags: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The tokens file; with it, clients have to log in. See `geobucket token`.",
            valueName: "path"))
    var tokens: String?

    @Option(
        help: ArgumentHelp(
            "A JSON Web Key Set; clients may log in with tokens (JWT) signed by one of its keys.",
            valueName: "path", visibility: .hidden))
    var jwtKeys: String?

    @Option(
        help: ArgumentHelp(
            "The audience that a signed token must name in \"aud\". (default: geobucket, and \"aud\" may be missing)",
            valueName: "name", visibility: .hidden))
    var jwtAudience: String?

    @Option(
        help: ArgumentHelp(
            "The issuer that a signed token must name in \"iss\". (default: any)",
            valueName: "name", visibility: .hidden))
    var jwtIssuer: String?

    @Flag(
        help: ArgumentHelp(
            "Accept signed tokens without an expiry; they are valid as long as their key.",
            visibility: .hidden))
    var jwtWithoutExpiry = false

    @Option(
        help: ArgumentHelp(
            "What everybody may read without a login: all buckets but those of users and groups, or some by name. Everything else needs one.",
            valueName: "read[:bucket,…]"))
    var anonymous: String?

    @Flag(help: "Let everybody do everything, even on an address that others can reach.")
    var insecure = false

    @Option(
        help: ArgumentHelp(
            "Addresses and networks of proxies, with commas between them; they tell for which clients they connect.",
            valueName: "networks", visibility: .hidden))
    var trustProxy: String?

    @Option(
        help: ArgumentHelp(
            "The service's certificate and those that lead to its root; with it, clients have to use TLS.",
            valueName: "path"))
    var tlsCertificate: String?

    @Option(help: ArgumentHelp("The certificate's private key.", valueName: "path"))
    var tlsKey: String?

    @Option(
        help: ArgumentHelp(
            "Roots of the certificates that clients have to present.", valueName: "path",
            visibility: .hidden))
    var tlsClientCa: String?

    /// Nil when no login is required.
    func access(
        _ settings: Settings, _ limits: Limits, _ clock: ServiceClock, logger: Logger
    ) async throws -> WatchedAccess? {
        let tokens = try settings.path("tokens", flag: tokens)
        let keys = try settings.path("jwtKeys", flag: jwtKeys)
        let audience = settings.string("jwtAudience", flag: jwtAudience)
        let takesEndless = try settings.bool("jwtWithoutExpiry", flag: jwtWithoutExpiry)
        let issuer = settings.string("jwtIssuer", flag: jwtIssuer)
        guard keys != nil || audience == nil else {
            throw ValidationError("--jwt-audience needs --jwt-keys")
        }
        guard keys != nil || issuer == nil else {
            throw ValidationError("--jwt-issuer needs --jwt-keys")
        }
        guard keys != nil || !takesEndless else {
            throw ValidationError("--jwt-without-expiry needs --jwt-keys")
        }
        guard keys == nil || SigningKeys.isAvailable else {
            throw CommandFailure(without: "JWT", "--jwt-keys")
        }
        // What is public may only be read, even if nobody can log in.
        guard try tokens != nil || keys != nil || everybody(settings) != nil else { return nil }
        var rules = SigningKeys.Rules()
        if let audience { (rules.audience, rules.demandsAudience) = (audience, true) }
        rules.issuer = issuer
        rules.demandsExpiry = !takesEndless
        return try await WatchedAccess(
            .init(
                tokens: tokens, keys: keys, rules: rules, maximumBytes: limits.fileBytes,
                quotas: limits.quotas),
            clock: clock, logger: logger)
    }

    /// What may be read without a login where there are logins; nil: nothing.
    func everybody(_ settings: Settings) throws -> PublicBuckets? {
        guard let text = settings.string("anonymous", flag: anonymous) else { return nil }
        do throws(ServiceFailure) {
            return try PublicBuckets(text)
        } catch {
            throw ValidationError("--anonymous: \(error.message)")
        }
    }

    /// Nil for connections without TLS.
    ///
    /// - Parameter nodeAuthority: the file with the roots of other nodes' certificates.
    func tls(
        _ settings: Settings, _ limits: Limits, nodeAuthority: String? = nil
    ) throws -> TLSIdentity? {
        let certificate = try settings.path("tlsCertificate", flag: tlsCertificate)
        let key = try settings.path("tlsKey", flag: tlsKey)
        let authority = try settings.path("tlsClientCa", flag: tlsClientCa)
        guard let certificate, let key else {
            guard certificate == nil, key == nil, authority == nil else {
                throw ValidationError("TLS needs both --tls-certificate and --tls-key")
            }
            guard nodeAuthority == nil else {
                throw ValidationError("--cluster-ca needs --tls-certificate")
            }
            return nil
        }
        guard TLSIdentity.isAvailable else {
            throw CommandFailure(without: "TLS", "--tls-certificate")
        }
        do {
            return try TLSIdentity(
                .init(
                    certificate: certificate, key: key, clientCA: authority,
                    nodeCA: nodeAuthority,
                    maximumBytes: limits.fileBytes))
        } catch {
            throw CommandFailure("TLS cannot be set up from these files: \(error)")
        }
    }

    /// The proxies whose word about the addresses of clients counts.
    func proxies(_ settings: Settings) throws -> TrustedProxies {
        do throws(TrustedProxies.Fault) {
            return try TrustedProxies(settings.string("trustProxy", flag: trustProxy) ?? "")
        } catch {
            throw ValidationError("--trust-proxy: \(error)")
        }
    }

    /// Refuses to listen on a network address without logins.
    func check(_ address: Address, hasLogins: Bool, _ settings: Settings) throws {
        guard !address.isLoopback, !hasLogins else { return }
        guard try settings.bool("insecure", flag: insecure) else {
            throw ValidationError(
                "\(address) can be reached by others, who could read and write everything: give "
                    + "--tokens or --jwt-keys, --anonymous read for what all may read, or --insecure if "
                    + "that is meant")
        }
    }
}
