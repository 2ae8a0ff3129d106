import PlainJSON
import Vocabulary

/// An error of the protocol: JSON-RPC's number, the service's name for it, a message.
public struct RPCFailure: Error, Sendable, Equatable {
    /// The JSON-RPC error code: -32768 to -32000 of JSON-RPC itself, others the service's own.
    public var code: Int
    /// The service's name for the error, such as `INVALID_INPUT_DATA`.
    public var errorCode: String
    /// What is wrong, in words for people.
    public var message: String
    /// The JSON path of the member at fault.
    public var path: String?
    /// The byte offset in the line at which the text is no longer JSON.
    public var offset: Int?
    /// Links an internal error to its log line.
    public var requestID: String?
    /// How long to wait before the next attempt; nil if waiting does not help or is not known to.
    public var retryAfterMilliseconds: Int?

    /// A failure of a request as a whole; the other members are set afterwards.
    public init(_ code: Int, _ errorCode: String, _ message: String, offset: Int? = nil) {
        self.code = code
        self.errorCode = errorCode
        self.message = message
        self.offset = offset
    }

    /// - Parameter failure: not `.undefined`, whose message is only for the log.
    public init(_ failure: ServiceFailure) {
        self.init(Self.code(of: failure.reason), failure.reason.rawValue, failure.message)
        path = failure.path
        let isPassing =
            failure.reason == .tooManyRequests || failure.reason == .temporarilyUnavailable
        retryAfterMilliseconds = failure.retryAfterMilliseconds ?? (isPassing ? 1_000 : nil)
    }

    /// An internal error: the client gets the request id, the log has the reason.
    public init(internalErrorOf requestID: String) {
        self.init(
            -32603, ServiceFailure.Reason.undefined.rawValue,
            "the service failed; its log has the reason under the request id \(requestID)")
        self.requestID = requestID
    }

    /// The refusal of a line longer than so many bytes.
    public static func lineTooLong(limit: Int) -> RPCFailure {
        RPCFailure(
            -32600, "LINE_TOO_LONG", "the line is longer than \(limit) bytes and was skipped")
    }

    /// The refusal of a line whose end did not come within so many milliseconds.
    public static func lineTooSlow(limit: Int) -> RPCFailure {
        .invalidRequest("a line has to end within \(limit) ms of its first byte")
    }

    /// The refusal of JSON that is not a request.
    public static func invalidRequest(_ message: String) -> RPCFailure {
        RPCFailure(-32600, "INVALID_REQUEST", message)
    }

    private static func code(of reason: ServiceFailure.Reason) -> Int {
        switch reason {
        case .invalidInputData, .queryNotSupported, .invalidBucket, .invalidObjectID,
            .objectTooLarge:
            -32602
        case .undefined: -32603
        case .unauthorized, .wrongToken: 1401
        case .notAllowed, .quotaExceeded: 1403
        case .objectNotFound, .bucketNotFound: 1404
        case .versionIsStale, .alreadyExists: 1409
        case .tooManyRequests: 1429
        case .queryTimeout, .temporarilyUnavailable, .storeFull: 1503
        }
    }

    // MARK: JSON

    /// The failure in an answer's `error`; nil if it has no code and no message.
    public init?(_ error: JSONView) {
        guard let code = error["code"]?.number?.exactInt, let message = error["message"]?.string
        else { return nil }
        let data = error["data"]
        self.init(
            code, data?["errorCode"]?.string ?? "\(code)", message,
            offset: data?["offset"]?.number?.exactInt)
        path = data?["path"]?.string
        requestID = data?["requestId"]?.string
        retryAfterMilliseconds = data?["retryAfterMillis"]?.number?.exactInt
    }

    /// Appends the failure as the `error` of an answer.
    public func write(to writer: inout JSONWriter) {
        writer.raw("{\"code\":")
        writer.integer(code)
        writer.key("message")
        writer.string(message)
        writer.raw(",\"data\":{\"errorCode\":")
        writer.string(errorCode)
        if let path {
            writer.key("path")
            writer.string(path)
        }
        if let offset {
            writer.key("offset")
            writer.integer(offset)
        }
        if let requestID {
            writer.key("requestId")
            writer.string(requestID)
        }
        if let retryAfterMilliseconds {
            writer.key("retryAfterMillis")
            writer.integer(retryAfterMilliseconds)
        }
        writer.raw("}}")
    }
}
