import ArgumentParser
import GeoBucketClient

/// Where a client command finds a service, and whether it uses TLS there.
///
/// `HOST`, `HOST:PORT`, `geobucket://HOST:PORT`, or with TLS `geobuckets://HOST:PORT`; the port is
/// 4362 unless it is given.
struct ServerAddress {
    let address: Address
    let usesTLS: Bool

    static let standard = ServerAddress(address: .standard, usesTLS: false)

    private static let schemes = ["geobucket://": false, "geobuckets://": true]

    private init(address: Address, usesTLS: Bool) {
        (self.address, self.usesTLS) = (address, usesTLS)
    }

    /// Nil for anything else.
    init?(_ text: String) {
        let scheme = Self.schemes.first { text.hasPrefix($0.key) }
        let place = text.dropFirst(scheme?.key.count ?? 0)
        guard !place.contains(where: { $0 == "/" || $0.isWhitespace }),
            let address = Address(argument: String(place))
                ?? Address(argument: "\(place):\(Address.standard.port)")
        else { return nil }
        self.init(address: address, usesTLS: scheme?.value ?? false)
    }

    /// The address and the path behind it, of a text that begins with a scheme; nil for any other.
    static func withPath(_ text: String) -> (ServerAddress, path: String)? {
        guard let scheme = schemes.keys.first(where: text.hasPrefix) else { return nil }
        let rest = text.dropFirst(scheme.count)
        guard let slash = rest.firstIndex(of: "/"),
            let server = ServerAddress(String(text[..<slash]))
        else { return nil }
        return (server, String(rest[rest.index(after: slash)...]))
    }

    /// - Throws: `ValidationError` with what was expected.
    @Sendable static func argument(_ text: String) throws -> ServerAddress {
        guard let server = ServerAddress(text) else { throw ValidationError(expected) }
        return server
    }

    static let expected =
        "expected HOST, HOST:PORT, geobucket://HOST:PORT or, with TLS, geobuckets://HOST:PORT"
}
