/// Why the service refused a request: one reason of a small vocabulary, a message, and the path in
/// the request.
///
///     throw ServiceFailure(.invalidInputData, "latitude 91 is outside -90...90",
///         at: "object.location.lat")
public struct ServiceFailure: Error, Sendable, Equatable {
    public enum Reason: String, Sendable, CaseIterable {
        case invalidInputData = "INVALID_INPUT_DATA"
        case queryNotSupported = "QUERY_NOT_SUPPORTED"
        case invalidBucket = "INVALID_BUCKET"
        case invalidObjectID = "INVALID_OBJECT_ID"
        case objectTooLarge = "OBJECT_TOO_LARGE"
        case unauthorized = "UNAUTHORIZED"
        case wrongToken = "WRONG_TOKEN"
        case notAllowed = "OPERATION_NOT_ALLOWED"
        case objectNotFound = "OBJECT_NOT_FOUND"
        case bucketNotFound = "BUCKET_NOT_FOUND"
        case versionIsStale = "OBJECT_VERSION_IS_STALE"
        case alreadyExists = "OBJECT_ALREADY_EXISTS"
        case tooManyRequests = "TOO_MANY_REQUESTS"
        case queryTimeout = "QUERY_TIMEOUT"
        case temporarilyUnavailable = "TEMPORARY_UNAVAILABLE_ERROR"
        case storeFull = "STORE_FULL"
        case undefined = "UNDEFINED_ERROR"
    }

    public let reason: Reason
    public let message: String
    /// The JSON path of the member at fault, such as `bucketQuery.clause.radius`.
    public let path: String?
    /// When to try again, if known.
    public let retryAfterMilliseconds: Int?

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
