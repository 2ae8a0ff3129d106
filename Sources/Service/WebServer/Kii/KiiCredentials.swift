import HTTPTypes
import ServiceDesk
import WebExchange

/// Finds out who sends a request, and whether for the right application.
struct KiiCredentials {
    private let settings: KiiSettings
    private let operations: any WebOperations

    init(_ settings: KiiSettings, _ operations: any WebOperations) {
        (self.settings, self.operations) = (settings, operations)
    }

    /// The principal of a bearer token, or the anonymous caller.
    ///
    /// - Throws: `UNAUTHORIZED` for a wrong key, or none where the application has one and nobody
    ///   has logged in; `WRONG_TOKEN`.
    func caller(of request: WebRequest) throws(KiiFailure) -> Caller {
        let authorization = Authorization(request.headers[.authorization])
        let key = try key(in: request.headers, authorization)
        var headers: HTTPFields = [:]
        if case .bearer(let token) = authorization { headers[.authorization] = "Bearer \(token)" }
        let bearer = try caller(request, headers)
        if bearer.isLoggedIn { return bearer }
        guard key != nil || settings.key == nil else {
            throw KiiFailure(
                .unauthorized, "send the application's id and key: X-Kii-AppID and X-Kii-AppKey")
        }
        let caller = Caller(
            address: request.address, anonymous: settings.anonymous,
            loginAdvice: Self.loginAdvice)
        caller.shareLogin(of: bearer)
        return caller
    }

    /// How a client of Kii's logs in.
    static let loginAdvice = "send Authorization: Bearer TOKEN"

    /// The application's key in a request, if it is there and right.
    private func key(
        in headers: HTTPFields, _ authorization: Authorization?
    ) throws(KiiFailure) -> String? {
        var (id, key) = (headers[.appID], headers[.appKey])
        switch authorization {
        case .basic(let user, let password): (id, key) = (user, password)
        case .other:
            throw KiiFailure(.unauthorized, "expected Authorization: Bearer TOKEN, or Basic")
        case .bearer, nil: break
        }
        guard settings.key != nil else { return key }
        guard id.map(settings.isApp) ?? true, key.map(settings.isKey) ?? true else {
            throw KiiFailure(.unauthorized, "the application's id or key is wrong")
        }
        return key
    }

    /// The caller of a request with no other headers than these, which counts it: the bearer of a token,
    /// who has not logged in where the service has no tokens, or nobody.
    private func caller(
        _ request: WebRequest, _ headers: HTTPFields
    ) throws(KiiFailure) -> Caller {
        // A session's cookie is none of Kii's credentials.
        let bare = WebRequest(
            request.method, request.target, headers: headers, address: request.address,
            base: request.base)
        do throws(WebFailure) {
            return try operations.caller(of: bare)
        } catch {
            throw KiiFailure(error)
        }
    }
}

/// The value of `Authorization`.
private enum Authorization {
    case bearer(String)
    case basic(user: String, password: String)
    case other

    init?(_ field: String?) {
        guard let field else { return nil }
        let parts = field.split(separator: " ", maxSplits: 1)
        guard parts.count == 2 else {
            self = .other
            return
        }
        let value = parts[1].trimmed
        switch parts[0].lowercased() {
        case "bearer": self = .bearer(value)
        case "basic":
            guard let bytes = Base64.decode(value),
                let colon = bytes.firstIndex(of: UInt8(ascii: ":"))
            else { fallthrough }
            self = .basic(
                user: String(decoding: bytes[..<colon], as: UTF8.self),
                password: String(decoding: bytes[(colon + 1)...], as: UTF8.self))
        default: self = .other
        }
    }
}

extension HTTPField.Name {
    fileprivate static let appID = HTTPField.Name("X-Kii-AppID")!
    fileprivate static let appKey = HTTPField.Name("X-Kii-AppKey")!
}
