import HTTPTypes
import JSONText
import Objects
import Wire

/// Why a request of the web port failed: what the line protocol would tell, and the HTTP status
/// that says as much.
public struct WebFailure: Error, Sendable {
    /// The status of the answer.
    public var status: HTTPResponse.Status
    /// The service's name for the error, such as `INVALID_INPUT_DATA`.
    public var errorCode: String
    /// What is wrong, in words for people.
    public var message: String
    /// The path of the member or the name of the parameter at fault.
    public var path: String?
    /// Header fields that go with the status, such as `Allow`.
    public var headers: HTTPFields = [:]

    /// A failure by its parts.
    public init(
        _ status: HTTPResponse.Status, _ errorCode: String, _ message: String,
        at path: String? = nil
    ) {
        (self.status, self.errorCode, self.message, self.path) = (status, errorCode, message, path)
    }

    /// A failed request of the protocol.
    public init(_ failure: RPCFailure) {
        self.init(
            Self.status(of: failure.errorCode), failure.errorCode, failure.message,
            at: failure.path)
        if let milliseconds = failure.retryAfterMilliseconds {
            headers[.retryAfter] = String((milliseconds + 999) / 1_000)
        }
    }

    /// A refusal of the service.
    public init(_ failure: ServiceFailure) { self.init(RPCFailure(failure)) }

    /// A parameter or member that is not valid.
    public static func invalid(_ message: String, at path: String? = nil) -> WebFailure {
        WebFailure(.badRequest, "INVALID_INPUT_DATA", message, at: path)
    }

    /// A path that leads nowhere.
    public static let notFound = WebFailure(
        .notFound, "NOT_FOUND", "there is nothing at this path")

    /// A path that takes other methods.
    public static func methodNotAllowed(_ allowed: [HTTPRequest.Method]) -> WebFailure {
        let names = allowed.map(\.rawValue).joined(separator: ", ")
        var failure = WebFailure(
            .methodNotAllowed, "METHOD_NOT_ALLOWED", "this path takes \(names)")
        failure.headers[.allow] = names
        return failure
    }

    /// A body of another media type than a path takes.
    public static func unsupportedType(_ types: [String]) -> WebFailure {
        WebFailure(
            .unsupportedMediaType, "UNSUPPORTED_MEDIA_TYPE",
            "the body has to be " + types.joined(separator: " or "))
    }

    /// The `WWW-Authenticate` of most paths.
    public static let bearer = #"Bearer realm="geobucket""#

    /// The status of a failed request of the protocol.
    private static func status(of errorCode: String) -> HTTPResponse.Status {
        switch ServiceFailure.Reason(rawValue: errorCode) {
        case .invalidInputData, .queryNotSupported, .invalidBucket, .invalidObjectID: .badRequest
        case .unauthorized, .wrongToken: .unauthorized
        case .notAllowed, .quotaExceeded: .forbidden
        case .objectNotFound, .bucketNotFound: .notFound
        case .versionIsStale, .alreadyExists: .conflict
        case .objectTooLarge: .contentTooLarge
        case .tooManyRequests: .tooManyRequests
        case .queryTimeout, .temporarilyUnavailable, .storeFull: .serviceUnavailable
        case .undefined: .internalServerError
        // A message that is no valid request at all.
        case nil: errorCode == "LINE_TOO_LONG" ? .contentTooLarge : .badRequest
        }
    }

    /// The answer: `{"errorCode","message","path"?}`.
    public var answer: WebAnswer {
        var writer = JSONWriter()
        writer.raw("{\"errorCode\":")
        writer.string(errorCode)
        writer.key("message")
        writer.string(message)
        if let path {
            writer.key("path")
            writer.string(path)
        }
        writer.byte(UInt8(ascii: "}"))
        var answer = WebAnswer("application/json", writer.bytes, status)
        for field in headers { answer.headers.append(field) }
        if status == .unauthorized, headers[.wwwAuthenticate] == nil {
            answer.headers[.wwwAuthenticate] = Self.bearer
        }
        return answer
    }
}
