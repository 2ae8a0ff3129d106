import Foundation
import GeoBucketClient
import PlainJSON

/// The errors of blocking calls and of completion blocks: `NSError`s like those of Kii's SDK.
///
///     do {
///         try object.saveSynchronous()
///     } catch let error as NSError {
///         error.code                                 // 510
///         error.kiiErrorSummary()                    // OBJECT_NOT_FOUND
///         error.localizedDescription                 // OBJECT_NOT_FOUND at id: no such object …
///     }
///
/// The code is Kii's if Kii had one, else that of Kii's undefined errors. `userInfo` has the
/// service's `errorCode`, `message` and `path`, all of it as `description`, and under
/// `NSUnderlyingErrorKey` the error of `GeoBucketClient`. On systems without Objective-C, patterns
/// for that error match too: `catch ClientFailure.refused(let failure)`.
public enum KiiError {
    /// The domain of every error that this module makes.
    public static let domain = "KiiErrorDomain"

    /// The client was closed.
    public static func codeInvalidApplication() -> Int { 101 }
    /// An error that Kii had no code for, or a cancelled task.
    public static func codeUndefinedError() -> Int { 103 }
    /// No service answers, or none in time.
    public static func codeUnableToConnectToInternet() -> Int { 201 }
    /// An answer that makes no sense, or a model that does not match.
    public static func codeUnableToParseResponse() -> Int { 202 }
    /// The token is missing or not valid, or it does not allow the call.
    public static func codeUnauthorizedRequest() -> Int { 203 }
    /// The service does not accept the object, or its id.
    public static func codeUnableToParseObject() -> Int { 502 }
    /// There is already an object with the id.
    public static func codeDuplicateEntry() -> Int { 503 }
    /// The bucket does not exist, or its name is not valid.
    public static func codeInvalidContainer() -> Int { 509 }
    /// The object does not exist.
    public static func codeObjectNotFound() -> Int { 510 }
    /// The object is older than the service's. Kii had the code, but no name for it.
    public static func codeObjectIsOlder() -> Int { 512 }
    /// The object has to be saved or refreshed first, or is too large to be sent.
    public static func codeIllegalStateObject() -> Int { 516 }
    /// The service does not support the query, or finds a fault in it.
    public static func codeQueryNotSupported() -> Int { 604 }

    /// The `NSError` that stands for an error of a call.
    public static func error(for error: any Error) -> NSError {
        var info: [String: Any] = [
            NSLocalizedDescriptionKey: "\(error)", "description": "\(error)",
            NSUnderlyingErrorKey: error,
        ]
        if case ClientFailure.refused(let failure) = error {
            info["errorCode"] = failure.errorCode
            info["server_code"] = failure.errorCode
            info["message"] = failure.message
            info["path"] = failure.path
        }
        return NSError(domain: domain, code: code(of: error), userInfo: info)
    }

    private static func code(of error: any Error) -> Int {
        switch error as? ClientFailure {
        case .unreachable, .insecure, .disconnected, .timedOut: codeUnableToConnectToInternet()
        case .closed: codeInvalidApplication()
        case .malformedAnswer: codeUnableToParseResponse()
        case .refused(let failure): code(of: failure)
        case .invalid(_, path: nil): codeIllegalStateObject()
        case .invalid: codeUnableToParseObject()
        case nil: error is JSONMismatch ? codeUnableToParseResponse() : codeUndefinedError()
        }
    }

    private static func code(of failure: RemoteFailure) -> Int {
        switch failure.reason {
        case .unauthorized, .wrongToken, .notAllowed: codeUnauthorizedRequest()
        case .objectNotFound: codeObjectNotFound()
        case .bucketNotFound, .invalidBucket: codeInvalidContainer()
        case .versionIsStale: codeObjectIsOlder()
        case .alreadyExists: codeDuplicateEntry()
        case .queryNotSupported: codeQueryNotSupported()
        case .invalidInputData:
            isOfQuery(failure.path ?? "") ? codeQueryNotSupported() : codeUnableToParseObject()
        case .invalidObjectID, .objectTooLarge: codeUnableToParseObject()
        case .tooManyRequests, .quotaExceeded, .queryTimeout, .temporarilyUnavailable, .storeFull,
            .undefined, nil:
            codeUndefinedError()
        }
    }
}

extension KiiError {
    /// Whether a path leads into what a request for a page has besides the bucket.
    private static func isOfQuery(_ path: String) -> Bool {
        ["bucketQuery", "bestEffortLimit", "paginationKey", "fields"].contains(
            path.prefix { $0 != "." && $0 != "[" })
    }
}

extension NSError {
    /// The status that Kii's REST interface has for the service's error; 0 for any other error.
    public func kiiHttpStatus() -> Int {
        guard case .refused(let failure)? = userInfo[NSUnderlyingErrorKey] as? ClientFailure else {
            return 0
        }
        return switch failure.reason {
        case .invalidInputData, .queryNotSupported, .invalidBucket, .invalidObjectID: 400
        case .unauthorized: 401
        case .wrongToken: 403
        case .objectNotFound, .bucketNotFound: 404
        case .versionIsStale, .alreadyExists, .notAllowed, .quotaExceeded: 409
        case .objectTooLarge: 413
        case .tooManyRequests: 429
        case .queryTimeout, .temporarilyUnavailable, .storeFull: 503
        case .undefined, nil: 500
        }
    }

    /// The service's error code, such as `OBJECT_NOT_FOUND`.
    public func kiiErrorSummary() -> String? { userInfo["errorCode"] as? String }

    /// The service's message about the error.
    public func kiiErrorMessage() -> String? { userInfo["message"] as? String }
}

#if !canImport(ObjectiveC)
    // An `NSError` that carries an error of `GeoBucketClient` can be cast to it, and the error to
    // an `NSError`: without Objective-C `as NSError` fails at run time for every Swift error of
    // another type, although the compiler takes it for certain. With Objective-C the language
    // bridges errors itself.

    extension ClientFailure: _ObjectiveCBridgeable { public typealias _ObjectiveCType = NSError }
    extension JSONMismatch: _ObjectiveCBridgeable { public typealias _ObjectiveCType = NSError }

    extension _ObjectiveCBridgeable where Self: Error, _ObjectiveCType == NSError {
        /// The `NSError` that `as NSError` gives: the one of `KiiError.error(for:)`.
        public func _bridgeToObjectiveC() -> NSError { KiiError.error(for: self) }

        /// For the compiler: `as?`, which takes the error out of `NSUnderlyingErrorKey`.
        ///
        /// - Returns: whether there is an error of this type; if not, `result` becomes nil.
        public static func _conditionallyBridgeFromObjectiveC(
            _ source: NSError, result: inout Self?
        ) -> Bool {
            // Extracted as `any Error`, whose cast to this type needs no bridge.
            result = (source.userInfo[NSUnderlyingErrorKey] as? any Error) as? Self
            return result != nil
        }

        /// For the compiler: the same, with nil for an error of another type.
        public static func _forceBridgeFromObjectiveC(_ source: NSError, result: inout Self?) {
            _ = _conditionallyBridgeFromObjectiveC(source, result: &result)
        }

        /// For the compiler: a bridge that cannot fail; traps for an error of another type, and for
        /// nil.
        public static func _unconditionallyBridgeFromObjectiveC(_ source: NSError?) -> Self {
            var result: Self?
            if let source { _forceBridgeFromObjectiveC(source, result: &result) }
            guard let result else { preconditionFailure("the error is no \(Self.self)") }
            return result
        }
    }
#endif
