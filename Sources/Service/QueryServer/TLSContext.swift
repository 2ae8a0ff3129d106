import NIOCore

// The part of the server's TLS that uses swift-nio-ssl, which the package trait TLS adds.

#if TLS
    import NIOSSL

    /// Parsed certificates and keys, for new connections.
    struct TLSContext: Sendable {
        static let isAvailable = true

        /// When the certificate ends, in milliseconds since 1970.
        let certificateEnd: Int64?
        private let context: NIOSSLContext
        /// For connections to other nodes.
        private let nodeContext: NIOSSLContext

        /// Those of TLS 1.2. Whoever records a connection and gets the certificate's key later cannot
        /// read it. TLS 1.3 has only such suites.
        ///
        /// Session tickets do not change that for long: the library encrypts them with keys that it
        /// keeps in memory, and changes every two days and with each reload.
        private static let suites = "ECDHE+AESGCM:ECDHE+CHACHA20"

        init(_ files: TLSIdentity.Files) throws {
            let chain = try files.make("the certificate", files.certificate) {
                try NIOSSLCertificate.fromPEMBytes($0)
            }
            let key = try files.make("its key", files.key) {
                try NIOSSLPrivateKey(bytes: $0, format: .pem)
            }
            certificateEnd = chain.first.map { Int64($0.notValidAfter) * 1_000 }
            var configuration = TLSConfiguration.makeServerConfiguration(
                certificateChain: chain.map { .certificate($0) }, privateKey: .privateKey(key))
            configuration.minimumTLSVersion = .tlsv12
            configuration.cipherSuites = Self.suites
            if let authority = files.clientCA {
                let roots = try files.make("the clients' authorities", authority) {
                    try NIOSSLCertificate.fromPEMBytes($0)
                }
                configuration.trustRoots = .certificates(roots)
                configuration.certificateVerification = .noHostnameVerification
            }
            var client = TLSConfiguration.makeClientConfiguration()
            client.minimumTLSVersion = .tlsv12
            client.cipherSuites = Self.suites
            client.certificateChain = chain.map { .certificate($0) }
            client.privateKey = .privateKey(key)
            if let authority = files.nodeCA {
                let roots = try files.make("the nodes' authorities", authority) {
                    try NIOSSLCertificate.fromPEMBytes($0)
                }
                client.trustRoots = .certificates(roots)
            }
            do {
                context = try NIOSSLContext(configuration: configuration)
                nodeContext = try NIOSSLContext(configuration: client)
            } catch {
                throw TLSIdentity.Fault(
                    description: "certificate and key do not belong together")
            }
        }

        /// A handler for one new connection.
        func handler() -> any ChannelHandler { NIOSSLServerHandler(context: context) }

        /// A handler for one new connection to another node.
        ///
        /// - Parameter name: what the node's certificate has to name; nil for its address.
        func nodeHandler(_ name: String?) throws -> any ChannelHandler {
            try NIOSSLClientHandler(context: nodeContext, serverHostname: name)
        }

        /// Whether the only fault is that TLS ended without a closing message.
        static func isUncleanEnd(_ error: any Error) -> Bool {
            error as? NIOSSLError == .uncleanShutdown
        }
    }
#else
    /// A build without the trait has no TLS.
    struct TLSContext: Sendable {
        static let isAvailable = false
        let certificateEnd: Int64? = nil
        private static let fault = TLSIdentity.Fault(
            description: "the server was built without TLS")

        init(_ files: TLSIdentity.Files) throws { throw Self.fault }

        func handler() -> any ChannelHandler { preconditionFailure("\(Self.fault)") }

        func nodeHandler(_ name: String?) throws -> any ChannelHandler { throw Self.fault }

        static func isUncleanEnd(_ error: any Error) -> Bool { false }
    }
#endif
