import NIOCore
import Objects
import ServiceDesk
import Synchronization

/// The service's certificate and key, and the authorities for client certificates: TLS 1.2 or
/// later.
///
///     let identity = try TLSIdentity(.init(certificate: "cert.pem", key: "key.pem"))
///     try identity.reload()       // new connections use the present contents of the files
public final class TLSIdentity: Sendable {
    /// Paths of PEM files.
    public struct Files: Sendable {
        /// The service's certificate, followed by those that lead to its root.
        public var certificate: String
        /// The certificate's private key.
        public var key: String
        /// The roots of the client certificates; nil when clients need no certificate.
        public var clientCA: String?
        /// The roots of the certificates of other nodes; nil for the system's.
        public var nodeCA: String?
        /// The size limit of each file, in bytes.
        public var maximumBytes: Int

        /// Stores its arguments; no file is read yet.
        public init(
            certificate: String, key: String, clientCA: String? = nil, nodeCA: String? = nil,
            maximumBytes: Int = Limits().fileBytes
        ) {
            self.certificate = certificate
            self.key = key
            self.clientCA = clientCA
            self.nodeCA = nodeCA
            self.maximumBytes = maximumBytes
        }

        /// Parses one of the files.
        func make<Value>(
            _ what: String, _ path: String, _ body: ([UInt8]) throws -> Value
        ) throws -> Value {
            do {
                return try body(TrustedFile(path: path, maximumBytes: maximumBytes).bytes)
            } catch let fault as TrustedFile.Fault {
                throw Fault(description: "\(what): \(fault)")
            } catch {
                throw Fault(description: "\(what): it is not PEM, or not of that kind")
            }
        }
    }

    /// Which of the files cannot be used, and why.
    public struct Fault: Error, CustomStringConvertible {
        /// A sentence that names the file and the reason.
        public let description: String
    }

    /// Whether this build has TLS: the package trait of that name.
    public static var isAvailable: Bool { TLSContext.isAvailable }

    private let files: Files
    private let current: Mutex<TLSContext>

    /// - Throws: a `Fault` when a file cannot be read, when certificate and key do not match, and
    ///   in a build without TLS.
    public init(_ files: Files) throws {
        self.files = files
        current = Mutex(try TLSContext(files))
    }

    /// Reads the files again; if that fails, the present identity stays in use.
    public func reload() throws {
        let next: TLSContext = try .init(files)
        current.withLock { $0 = next }
    }

    /// When the certificate ends, in milliseconds since 1970.
    public var certificateEnd: Int64? { current.withLock { $0.certificateEnd } }

    /// A handler for one new connection.
    package func handler() -> any ChannelHandler { current.withLock { $0 }.handler() }

    /// A handler for one new connection to another node.
    ///
    /// - Parameter host: where it leads; an address is looked for among those of the certificate.
    func nodeHandler(_ host: String) throws -> any ChannelHandler {
        let isAddress = (try? SocketAddress(ipAddress: host, port: 0)) != nil
        return try current.withLock { $0 }.nodeHandler(isAddress ? nil : host)
    }
}
