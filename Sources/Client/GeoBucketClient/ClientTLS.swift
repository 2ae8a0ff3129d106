import NIOCore
import NIOTLS

/// How a client authenticates the service, and itself: TLS 1.2 or later.
public struct ClientTLS: Sendable {
    /// PEM file of the trusted roots; nil means the system's.
    public var certificateAuthority: String?
    /// PEM files of the client's own certificate and key, for a service that requires them.
    public var identity: (certificate: String, key: String)?

    /// Paths of PEM files, which are not read before `transport(to:)`. Nil means the system's
    /// roots, and no certificate of the client's own.
    public init(
        certificateAuthority: String? = nil, identity: (certificate: String, key: String)? = nil
    ) {
        self.certificateAuthority = certificateAuthority
        self.identity = identity
    }

    /// Whether this build has TLS: the package's trait of that name, which is on by default.
    public static var isAvailable: Bool { ClientTLSContext.isAvailable }

    /// Makes the first handlers in the pipeline of a connection.
    public typealias Transport = @Sendable () throws -> [any ChannelHandler]

    /// Reads the files once, for many connections to a host.
    ///
    /// - Parameter host: the name that the service's certificate must have.
    /// - Throws: `ClientFailure.invalid` with the name of a file that cannot be used, and in a build
    ///   without the package's trait TLS.
    public func transport(to host: String) throws -> Transport {
        let context: ClientTLSContext = try .init(self)
        // An address is not a name: it is compared with that of the connection.
        let isAddress = (try? SocketAddress(ipAddress: host, port: 0)) != nil
        return { [try context.handler(isAddress ? nil : host)] }
    }

    /// Why the handshake will fail however often it is tried; nil for faults that may pass.
    static func refusal(for error: any Error, by host: String) -> String? {
        switch ClientTLSContext.problem(error) {
        case nil: return nil
        case .otherName:
            return "the service's certificate does not name \(host); connect by a name that it has"
        case .other: break
        }
        let text = "\(error)"
        let known = [
            (
                "CERTIFICATE_VERIFY_FAILED",
                "the service's certificate is not trusted: it leads to no root that is known here, or "
                    + "is not valid now; name its root with --tls-ca PATH, in Swift with "
                    + "ClientTLS(certificateAuthority:)"
            ),
            ("WRONG_VERSION_NUMBER", "the service does not speak TLS"),
            ("HANDSHAKE_FAILURE", "the service refuses TLS, or does not speak it"),
        ]
        return known.first { text.contains($0.0) }?.1
    }

    /// Why the handshake failed this time, in words; the library's own messages name lines of its
    /// source.
    static func reason(for error: any Error) -> String {
        let text = "\(error)"
        return text.contains("eof") || text.contains("uncleanShutdown")
            ? "the service hung up" : text.replacing(#/ at /\S+/#, with: "")
    }
}

/// Reports when the handshake has succeeded, or why it has failed.
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
