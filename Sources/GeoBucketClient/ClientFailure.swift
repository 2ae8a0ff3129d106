/// Why a call had no result.
public enum ClientFailure: Error, Sendable, Equatable, CustomStringConvertible {
    case unreachable(host: String, port: Int, reason: String)
    /// The connection ended before the answer came; a write may or may not have happened.
    case disconnected
    /// What arrived is no answer of the protocol.
    case malformedAnswer(String)
    /// The service's own error.
    case refused(RemoteFailure)

    public var description: String {
        switch self {
        case .unreachable(let host, let port, let reason):
            "no service answers at \(host):\(port) (\(reason)); is `geobucket serve` running?"
        case .disconnected: "the connection ended before the answer came"
        case .malformedAnswer(let text): "the answer makes no sense: \(text)"
        case .refused(let failure): failure.description
        }
    }
}

/// An error as the service told it.
public struct RemoteFailure: Error, Sendable, Equatable, CustomStringConvertible {
    public var code: Int
    /// The service's name for the error, such as `INVALID_INPUT_DATA`.
    public var errorCode: String
    public var message: String
    /// The JSON path of the member at fault.
    public var path: String?

    public var description: String {
        path.map { "\(errorCode) at \($0): \(message)" } ?? "\(errorCode): \(message)"
    }
}
