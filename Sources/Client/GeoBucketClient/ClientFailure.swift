import Vocabulary

/// Why a call had no result.
public enum ClientFailure: Error, Sendable, Equatable, CustomStringConvertible {
    /// The last attempt could not connect, or its login was not answered. A write with a request key
    /// may have happened in an attempt before it.
    case unreachable(host: String, port: Int, reason: String)
    /// Something answers there, but the TLS handshake failed; nothing was sent.
    case insecure(host: String, port: Int, reason: String)
    /// The connection ended before the answer came; a write may or may not have happened.
    case disconnected
    /// No answer came in time; a write may or may not have happened.
    case timedOut
    /// The client was closed before the call.
    case closed
    /// What arrived is not an answer of the protocol.
    case malformedAnswer(String)
    /// The service's own error.
    case refused(RemoteFailure)
    /// The service would not accept the request; nothing was sent.
    case invalid(String, path: String?)

    public var description: String {
        switch self {
        case .unreachable(let host, let port, let reason):
            "no service answers at \(ServiceAddress(host: host, port: port)) (\(reason))"
        case .insecure(let host, let port, let reason):
            "no secure connection to \(ServiceAddress(host: host, port: port)): \(reason)"
        case .disconnected: "the connection ended before the answer came"
        case .timedOut: "no answer came in time"
        case .closed: "the client is closed"
        case .malformedAnswer(let text): "the answer makes no sense: \(text)"
        case .refused(let failure): failure.description
        case .invalid(let message, let path): path.map { "\($0): \(message)" } ?? message
        }
    }
}

/// An error that the service reported.
public struct RemoteFailure: Error, Sendable, Equatable, CustomStringConvertible {
    /// The JSON-RPC error code.
    public var code: Int
    /// The service's name for the error, such as `INVALID_INPUT_DATA`.
    public var errorCode: String
    /// What is wrong, in words for people.
    public var message: String
    /// The JSON path of the member at fault.
    public var path: String?
    /// How long to wait before the next attempt, if the service says so.
    public var retryAfterMilliseconds: Int?

    /// A failure as the service words it.
    public init(
        code: Int, errorCode: String, message: String, path: String? = nil,
        retryAfterMilliseconds: Int? = nil
    ) {
        self.code = code
        self.errorCode = errorCode
        self.message = message
        self.path = path
        self.retryAfterMilliseconds = retryAfterMilliseconds
    }

    /// The error code as an enum case; nil for one that this client does not know.
    public var reason: ServiceFailure.Reason? { ServiceFailure.Reason(rawValue: errorCode) }

    public var description: String {
        path.map { "\(errorCode) at \($0): \(message)" } ?? "\(errorCode): \(message)"
    }
}
