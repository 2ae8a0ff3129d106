import NIOCore
import NIOSSL
import NIOTLS

/// How a client makes sure with whom it speaks, and shows who it is: TLS 1.2 or later.
public struct ClientTLS: Sendable {
    /// PEM file of the roots that the service's certificate may lead to; nil is the system's.
    public var certificateAuthority: String?
    /// PEM files of the client's own certificate and key, where the service demands them.
    public var identity: (certificate: String, key: String)?

    public init(
        certificateAuthority: String? = nil, identity: (certificate: String, key: String)? = nil
    ) {
        self.certificateAuthority = certificateAuthority
        self.identity = identity
    }

    /// What stands first in a connection's pipeline.
    ///
    /// - Parameter host: what the service's certificate has to name.
    func handlers(host: String) throws -> [any ChannelHandler] { try transport(to: host)() }

    /// Reads the files once, for many connections to a host.
    ///
    /// - Throws: `NIOSSLError` when they cannot be used.
    /// - Returns: makes the handlers of one connection.
    public func transport(to host: String) throws -> @Sendable () throws -> [any ChannelHandler] {
        var configuration = TLSConfiguration.makeClientConfiguration()
        configuration.minimumTLSVersion = .tlsv12
        if let certificateAuthority {
            configuration.trustRoots = .certificates(
                try NIOSSLCertificate.fromPEMFile(certificateAuthority))
        }
        if let identity {
            configuration.certificateChain = try NIOSSLCertificate.fromPEMFile(identity.certificate)
                .map { .certificate($0) }
            configuration.privateKey = .privateKey(
                try NIOSSLPrivateKey(file: identity.key, format: .pem))
        }
        let context = try NIOSSLContext(configuration: configuration)
        // An address is no name: it is compared with that of the connection.
        let isAddress = (try? SocketAddress(ipAddress: host, port: 0)) != nil
        return {
            [try NIOSSLClientHandler(context: context, serverHostname: isAddress ? nil : host)]
        }
    }
}

/// Tells when TLS is agreed on, or why it is not.
final class HandshakeHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer

    private let outcome: EventLoopPromise<Void>

    init(_ outcome: EventLoopPromise<Void>) { self.outcome = outcome }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case TLSUserEvent.handshakeCompleted = event {
            outcome.succeed()
            context.pipeline.syncOperations.removeHandler(context: context, promise: nil)
        }
        context.fireUserInboundEventTriggered(event)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        outcome.fail(error)
        context.close(promise: nil)
    }

    func channelInactive(context: ChannelHandlerContext) {
        outcome.fail(ChannelError.eof)
        context.fireChannelInactive()
    }
}
