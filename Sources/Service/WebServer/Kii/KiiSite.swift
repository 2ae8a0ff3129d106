import Digests
import HTTPTypes
import JSONText
import ServiceDesk
import WebExchange

/// Kii's REST interface: the paths below `/api/apps`, for one application.
///
///     let site = KiiSite(operations: operations, settings: KiiSettings(app: "myapp"))
///     await site.answer(request)      // 201 {"objectID":"…","createdAt":…,"dataType":…}
///
/// Its objects are those of the line port. Every answer but 204 has a JSON body, and only failures
/// have an `errorCode`.
public struct KiiSite: Sendable {
    private let operations: any WebOperations
    private let settings: KiiSettings

    /// Answers with the operations of a service.
    public init(operations: any WebOperations, settings: KiiSettings) {
        (self.operations, self.settings) = (operations, settings)
    }

    /// Whether a request with this path and query is Kii's.
    public static func hasTarget(_ target: String) -> Bool {
        guard target.hasPrefix(root) else { return false }
        return ["/", "?", nil].contains(target.dropFirst(root.count).first)
    }

    private static let root = "/api/apps"

    /// The answer to a request that failed before it was read, in the form of Kii's.
    public static func answer(for failure: WebFailure) -> WebAnswer {
        KiiFailure(failure).answer(about: nil)
    }

    /// Finds out who sends a request, which needs no body.
    ///
    /// - Returns: the answer if the request is refused.
    public func refusal(of request: inout WebRequest) -> WebAnswer? {
        do throws(KiiFailure) {
            request.caller = try caller(of: request)
            return nil
        } catch {
            return error.answer(about: nil)
        }
    }

    /// Answers a request.
    public func answer(_ request: WebRequest) async -> WebAnswer {
        do throws(KiiFailure) {
            let caller = try caller(of: request)
            let call = KiiCall(request: request, caller: caller, operations, settings)
            return try await answer(call, at: KiiPath(request.path.dropFirst(3), of: caller))
        } catch {
            return error.answer(about: nil)
        }
    }

    private func caller(of request: WebRequest) throws(KiiFailure) -> Caller {
        if let caller = request.caller { return caller }
        guard let app = request.path.dropFirst(2).first, settings.isApp(app) else {
            throw KiiFailure(.appNotFound, "this service has no such application")
        }
        return try KiiCredentials(settings, operations).caller(of: request)
    }

    private func answer(_ call: KiiCall, at path: KiiPath) async throws(KiiFailure) -> WebAnswer {
        switch path {
        case .bucket(let scope, let name):
            return await call.answer(about: place(scope, name)) { place throws(KiiFailure) in
                try await call.answerBucket(place)
            }
        case .query(let scope, let name):
            return await call.answer(about: place(scope, name)) { place throws(KiiFailure) in
                try await call.answerQuery(place)
            }
        case .objects(let scope, let name):
            return await call.answer(about: place(scope, name)) { place throws(KiiFailure) in
                try await call.answerObjects(place)
            }
        case .object(let scope, let name, let id):
            return await call.answer(about: place(scope, name, id)) { place throws(KiiFailure) in
                try await call.answerObject(place)
            }
        case .user(let id): return try call.answerUser(id)
        }
    }

    private func place(_ scope: KiiScope, _ bucket: String, _ object: String? = nil) -> KiiPlace {
        KiiPlace(app: settings.app, scope: scope, bucket: bucket, object: object)
    }
}
