import NIOCore

// What of the client's TLS rests on swift-nio-ssl, which the package's trait TLS asks for.

/// What kind of thing went wrong in TLS.
enum TLSProblem {
    /// The service's certificate is good, but another's.
    case otherName
    case other
}

#if TLS
    import NIOSSL

    /// A client's files as they were read, for many connections.
    struct ClientTLSContext: Sendable {
        static let isAvailable = true

        private let context: NIOSSLContext

        init(_ tls: ClientTLS) throws {
            var configuration = TLSConfiguration.makeClientConfiguration()
            configuration.minimumTLSVersion = .tlsv12
            if let certificateAuthority = tls.certificateAuthority {
                configuration.trustRoots = .certificates(
                    try Self.certificates(certificateAuthority))
            }
            if let identity = tls.identity {
                configuration.certificateChain = try Self.certificates(identity.certificate)
                    .map { .certificate($0) }
                configuration.privateKey = .privateKey(
                    try Self.reading(identity.key, "private key") {
                        try NIOSSLPrivateKey(file: $0, format: .pem)
                    })
            }
            context = try NIOSSLContext(configuration: configuration)
        }

        private static func certificates(_ path: String) throws -> [NIOSSLCertificate] {
            try reading(path, "certificates") { try NIOSSLCertificate.fromPEMFile($0) }
        }

        private static func reading<Value>(
            _ path: String, _ what: String, _ body: (String) throws -> Value
        ) throws -> Value {
            do {
                return try body(path)
            } catch {
                throw ClientFailure.invalid("no \(what) in PEM can be read there", path: path)
            }
        }

        /// A handler for one new connection.
        ///
        /// - Parameter name: what the service's certificate has to name; nil for the connection's
        ///   address.
        func handler(_ name: String?) throws -> any ChannelHandler {
            try NIOSSLClientHandler(context: context, serverHostname: name)
        }

        /// Nil for errors that are not of TLS.
        static func problem(_ error: any Error) -> TLSProblem? {
            switch error {
            case let error as NIOSSLExtraError:
                error == .failedToValidateHostname ? .otherName : .other
            case is NIOSSLError: .other
            default: nil
            }
        }
    }
#else
    /// Refuses, in a build without the trait.
    struct ClientTLSContext: Sendable {
        static let isAvailable = false

        private static var refusal: ClientFailure {
            .invalid(
                "TLS is not in this build: the package geobucket was built without its trait TLS, "
                    + "which is on by default",
                path: nil)
        }

        init(_ tls: ClientTLS) throws { throw Self.refusal }

        func handler(_ name: String?) throws -> any ChannelHandler { throw Self.refusal }

        static func problem(_ error: any Error) -> TLSProblem? { nil }
    }
#endif
