import HTTPTypes
import JSONText
import WebExchange
import Wire

/// Why a request failed, as Kii's clients are told.
struct KiiFailure: Error, Sendable {
    /// Kii's names of errors; each has a status, and a media type for its body.
    enum Code: String {
        case invalidBucket = "INVALID_BUCKET"
        case invalidDataType = "INVALID_DATA_TYPE"
        case invalidInputData = "INVALID_INPUT_DATA"
        case invalidJSON = "INVALID_JSON"
        case invalidObjectID = "INVALID_OBJECT_ID"
        case queryNotSupported = "QUERY_NOT_SUPPORTED"
        case unauthorized = "UNAUTHORIZED"
        case wrongToken = "WRONG_TOKEN"
        case operationNotSupported = "OPERATION_NOT_SUPPORTED"
        case appNotFound = "APP_NOT_FOUND"
        case bucketNotFound = "BUCKET_NOT_FOUND"
        case objectNotFound = "OBJECT_NOT_FOUND"
        case userNotFound = "USER_NOT_FOUND"
        case versionIsStale = "OBJECT_VERSION_IS_STALE"
        case alreadyExists = "OBJECT_ALREADY_EXISTS"
        case operationNotAllowed = "OPERATION_NOT_ALLOWED"
        case objectTooLarge = "OBJECT_TOO_LARGE"
        case tooManyRequests = "TOO_MANY_REQUESTS"
        case undefined = "UNDEFINED_ERROR"
        case operationNotImplemented = "OPERATION_NOT_IMPLEMENTED"
        case queryTimeout = "QUERY_TIMEOUT"
        case temporarilyUnavailable = "TEMPORARY_UNAVAILABLE_ERROR"

        var status: HTTPResponse.Status {
            switch self {
            case .invalidBucket, .invalidDataType, .invalidInputData, .invalidJSON,
                .invalidObjectID, .queryNotSupported:
                .badRequest
            case .unauthorized: .unauthorized
            case .wrongToken, .operationNotSupported: .forbidden
            case .appNotFound, .bucketNotFound, .objectNotFound, .userNotFound: .notFound
            case .versionIsStale, .alreadyExists, .operationNotAllowed: .conflict
            case .objectTooLarge: .contentTooLarge
            case .tooManyRequests: .tooManyRequests
            case .undefined: .internalServerError
            case .operationNotImplemented: .notImplemented
            case .queryTimeout, .temporarilyUnavailable: .serviceUnavailable
            }
        }

        /// `application/vnd.kii.ObjectNotFoundException+json`
        var mediaType: String {
            let name =
                self == .unauthorized
                ? "UnauthorizedAccess"
                : rawValue.split(separator: "_").map { $0.prefix(1) + $0.dropFirst().lowercased() }
                    .joined()
            return "application/vnd.kii.\(name)Exception+json"
        }
    }

    let code: Code
    let message: String
    /// The path of the member at fault, or the name of the header.
    var path: String?
    /// The status; the code's own unless it is given.
    var status: HTTPResponse.Status
    /// Header fields that go with it, such as `Retry-After`.
    var headers: HTTPFields = [:]

    init(
        _ code: Code, _ message: String, at path: String? = nil,
        status: HTTPResponse.Status? = nil
    ) {
        (self.code, self.message, self.path) = (code, message, path)
        self.status = status ?? code.status
    }

    /// A failure of the web port.
    init(_ failure: WebFailure) {
        self.init(Self.code(of: failure), failure.message, at: failure.path)
        headers = failure.headers
    }

    /// The same failure; its path begins inside a member.
    func inside(_ member: String) -> KiiFailure {
        guard let path else { return self }
        var failure = self
        if path == member {
            failure.path = ""
        } else if path.hasPrefix(member + ".") {
            failure.path = String(path.dropFirst(member.utf8.count + 1))
        }
        return failure
    }

    private static func code(of failure: WebFailure) -> Code {
        if let code = Code(rawValue: failure.errorCode) { return code }
        return switch failure.errorCode {
        case "STORE_FULL": .temporarilyUnavailable
        case "QUOTA_EXCEEDED": .operationNotAllowed
        case "LINE_TOO_LONG": .objectTooLarge
        default: .invalidInputData
        }
    }

    /// The answer.
    ///
    /// - Parameter place: what the request is about, if that is known.
    func answer(about place: KiiPlace?) -> WebAnswer {
        var writer = JSONWriter()
        writer.raw("{\"errorCode\":")
        writer.string(code.rawValue)
        writer.key("message")
        writer.string(message)
        if code == .invalidInputData {
            writer.key("path")
            writer.string(path ?? "")
            writer.raw(",\"suppressed\":[]")
        }
        if code == .objectNotFound || code == .bucketNotFound, let place {
            place.writeNames(withObject: code == .objectNotFound, to: &writer)
        }
        writer.byte(UInt8(ascii: "}"))
        var answer = WebAnswer(code.mediaType, writer.bytes, status)
        for field in headers { answer.headers.append(field) }
        if status == .unauthorized {
            answer.headers[.wwwAuthenticate] = #"Bearer realm="geobucket""#
        }
        return answer
    }
}
