import NIOSSL
import Synchronization

/// The service's certificate and key, and whose certificates it demands of clients: TLS 1.2 or later.
///
///     let identity = try TLSIdentity(.init(certificate: "cert.pem", key: "key.pem"))
///     try identity.reload()       // new connections get what the files hold now
public final class TLSIdentity: Sendable {
    /// Paths of PEM files.
    public struct Files: Sendable {
        /// The service's certificate, behind it those that lead to its root.
        public var certificate: String
        public var key: String
        /// The roots of the certificates that clients have to show; nil when they need none.
        public var clientCA: String?

        public init(certificate: String, key: String, clientCA: String? = nil) {
            self.certificate = certificate
            self.key = key
            self.clientCA = clientCA
        }
    }

    private let files: Files
    private let current: Mutex<NIOSSLContext>

    /// - Throws: when a file cannot be read, or certificate and key do not belong together.
    public init(_ files: Files) throws {
        self.files = files
        current = Mutex(try Self.context(files))
    }

    /// Reads the files anew; when that fails, all stays as it was.
    public func reload() throws {
        let next = try Self.context(files)
        current.withLock { $0 = next }
    }

    /// A handler for one new connection.
    func handler() -> NIOSSLServerHandler {
        NIOSSLServerHandler(context: current.withLock { $0 })
    }

    private static func context(_ files: Files) throws -> NIOSSLContext {
        let chain = try NIOSSLCertificate.fromPEMFile(files.certificate)
        let key = try NIOSSLPrivateKey(file: files.key, format: .pem)
        var configuration = TLSConfiguration.makeServerConfiguration(
            certificateChain: chain.map { .certificate($0) }, privateKey: .privateKey(key))
        configuration.minimumTLSVersion = .tlsv12
        if let authority = files.clientCA {
            configuration.trustRoots = .certificates(try NIOSSLCertificate.fromPEMFile(authority))
            configuration.certificateVerification = .noHostnameVerification
        }
        return try NIOSSLContext(configuration: configuration)
    }
}
