/// Why the service refused a request: one reason of a small vocabulary, a message, and the path in
/// the request.
///
///     throw ServiceFailure(.invalidInputData, "latitude 91 is outside -90...90",
///         at: "object.location.lat")
public struct ServiceFailure: Error, Sendable, Equatable {
    /// Why a request is refused, by the names of the protocol's error codes.
    public enum Reason: String, Sendable, CaseIterable {
        /// A value is missing, of the wrong type, out of range or over a limit.
        case invalidInputData = "INVALID_INPUT_DATA"
        /// The query is well formed, but asks for what the service does not do.
        case queryNotSupported = "QUERY_NOT_SUPPORTED"
        /// The name or its scope is malformed or reserved.
        case invalidBucket = "INVALID_BUCKET"
        /// The id has a wrong length or a character that ids may not have.
        case invalidObjectID = "INVALID_OBJECT_ID"
        /// The minified document has more bytes than the service allows.
        case objectTooLarge = "OBJECT_TOO_LARGE"
        /// The service requires a login, and there was none.
        case unauthorized = "UNAUTHORIZED"
        /// The token is not known, has expired or cannot be verified.
        case wrongToken = "WRONG_TOKEN"
        /// The login does not permit it, or does not reach the bucket.
        case notAllowed = "OPERATION_NOT_ALLOWED"
        /// The bucket's scope would hold more than its quota permits; nothing was written.
        case quotaExceeded = "QUOTA_EXCEEDED"
        /// The bucket has no object of this id, or the object has expired.
        case objectNotFound = "OBJECT_NOT_FOUND"
        /// A bucket that does not exist was to be deleted; reads find it empty.
        case bucketNotFound = "BUCKET_NOT_FOUND"
        /// The object has another version than the one that the write is for.
        case versionIsStale = "OBJECT_VERSION_IS_STALE"
        /// The write is only for an id that no object has, and one has it.
        case alreadyExists = "OBJECT_ALREADY_EXISTS"
        /// The request was not begun; a later one may be.
        case tooManyRequests = "TOO_MANY_REQUESTS"
        /// The query took longer than the service allows.
        case queryTimeout = "QUERY_TIMEOUT"
        /// The request failed for a passing reason, such as a store that another process holds.
        case temporarilyUnavailable = "TEMPORARY_UNAVAILABLE_ERROR"
        /// The disk is full; nothing was written.
        case storeFull = "STORE_FULL"
        /// A fault of the service's own, whose reason is in its log.
        case undefined = "UNDEFINED_ERROR"
    }

    /// What clients decide by; the protocol's number for the error follows from it.
    public let reason: Reason
    /// What is wrong, in words for people; not the whole of a client's text.
    public let message: String
    /// The JSON path of the member at fault, such as `bucketQuery.clause.radius`.
    public let path: String?
    /// When to try again, if known.
    public let retryAfterMilliseconds: Int?

    /// A refusal, which concerns the request as a whole if no path is given.
    ///
    /// - Parameters:
    ///   - path: the JSON path of the member at fault; `inside` prepends the outer parts.
    ///   - retryAfterMilliseconds: the pause that the client is asked to make; nil if it is not
    ///     known.
    public init(
        _ reason: Reason, _ message: String, at path: String? = nil,
        retryAfterMilliseconds: Int? = nil
    ) {
        self.reason = reason
        self.message = message
        self.path = path
        self.retryAfterMilliseconds = retryAfterMilliseconds
    }

    /// Runs `body` for a part of the request and prepends that part to the path of its failure, so
    /// that paths are built only for failures.
    ///
    /// - Parameter outer: a member's name, or `[index]`.
    public static func inside<Value>(
        _ outer: @autoclosure () -> String,
        _ value: @autoclosure () throws(ServiceFailure) -> Value
    ) throws(ServiceFailure) -> Value {
        do {
            return try value()
        } catch {
            throw error.inside(outer())
        }
    }

    /// The same failure with a prefix to its path.
    package func inside(_ outer: String) -> ServiceFailure {
        let inner = path ?? ""
        return ServiceFailure(
            reason, message,
            at: outer + (inner.isEmpty || inner.hasPrefix("[") ? "" : ".") + inner,
            retryAfterMilliseconds: retryAfterMilliseconds)
    }
}
