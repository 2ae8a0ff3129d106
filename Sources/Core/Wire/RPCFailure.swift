import PlainJSON
import Vocabulary

/// An error as the wire has it: JSON-RPC's number, the service's name for it, a sentence.
public struct RPCFailure: Error, Sendable, Equatable {
    public var code: Int
    public var errorCode: String
    public var message: String
    /// The JSON path of the member at fault.
    public var path: String?
    /// Where in the line the text ceases to be JSON, in bytes.
    public var offset: Int?
    /// Ties a fault of the service's own to its log line.
    public var requestID: String?
    public var retryAfterMilliseconds: Int?

    public init(_ code: Int, _ errorCode: String, _ message: String, offset: Int? = nil) {
        self.code = code
        self.errorCode = errorCode
        self.message = message
        self.offset = offset
    }

    /// - Parameter failure: not `.undefined`, whose message is for the log alone.
    public init(_ failure: ServiceFailure) {
        self.init(Self.code(of: failure.reason), failure.reason.rawValue, failure.message)
        path = failure.path
        if failure.reason == .tooManyRequests || failure.reason == .temporarilyUnavailable {
            retryAfterMilliseconds = failure.retryAfterMilliseconds ?? 1_000
        }
    }

    /// A fault of the service's own: the client learns the request id, the log the reason.
    public init(internalErrorOf requestID: String) {
        self.init(
            -32603, ServiceFailure.Reason.undefined.rawValue,
            "the service failed; its log has the reason under the request id \(requestID)")
        self.requestID = requestID
    }

    public static func lineTooLong(limit: Int) -> RPCFailure {
        RPCFailure(
            -32600, "LINE_TOO_LONG", "the line is longer than \(limit) bytes and was skipped")
    }

    public static func lineTooSlow(limit: Int) -> RPCFailure {
        .invalidRequest("a line has to end within \(limit) ms of its first byte")
    }

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
        case .notAllowed: 1403
        case .objectNotFound, .bucketNotFound: 1404
        case .versionIsStale, .alreadyExists: 1409
        case .tooManyRequests: 1429
        case .queryTimeout, .temporarilyUnavailable, .storeFull: 1503
        }
    }

    // MARK: JSON

    /// The failure that an answer's `error` tells of; nil for what has no code and no message.
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

    func write(to writer: inout JSONWriter) {
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
