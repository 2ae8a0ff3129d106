import HTTPTypes
import JSONText
import Logging
import Objects
import QueryServer
import Runtime
import ServiceDesk
import WebExchange

/// Who asks, and whether a browser does so for a page that may.
struct WebAccess: Sendable {
    private let service: QueryService
    private let settings: WebPort.Settings
    private let logger: Logger
    private let sessions: Sessions
    private let cookie: SessionCookie

    /// - Parameter isSecure: whether connections have TLS.
    init(
        service: QueryService, settings: WebPort.Settings, isSecure: Bool, logger: Logger
    ) {
        (self.service, self.settings, self.logger) = (service, settings, logger)
        sessions = Sessions(service.limits)
        let isProxied = settings.url?.hasPrefix("https://") ?? false
        cookie = SessionCookie(isSecure: isSecure || isProxied)
    }

    // MARK: Hosts and origins

    /// Refuses names that lead here only because somebody's name server says so, and writes that a
    /// browser sends for a page of somebody else. With a session's cookie that is every page but
    /// the service's own, because the browser adds the cookie by itself. It also adds a password
    /// that it has been told (`Basic`), but never a bearer's token.
    func check(_ head: HTTPRequest) throws(WebFailure) {
        try checkHost(Authority(head.authority ?? ""))
        let reads: [HTTPRequest.Method] = [.get, .head, .options]
        guard !reads.contains(head.method),
            authorization(in: head.headerFields)?.scheme != "bearer"
        else { return }
        let hasCookie = cookie.session(in: head.headerFields) != nil
        let isPermitted =
            if let origin = head.headerFields[.origin] {
                isOwn(origin, head.authority) || !hasCookie && settings.origins.contains(origin)
            } else {
                !hasCookie
            }
        guard isPermitted || isPublic(head) else {
            throw WebFailure(
                .forbidden, "OPERATION_NOT_ALLOWED",
                hasCookie
                    ? "with a session's cookie the Origin has to be this server"
                    : "the Origin is neither this server nor one that --web-origin names")
        }
    }

    private func checkHost(_ authority: Authority) throws(WebFailure) {
        let expected: String
        switch settings.hosts {
        case .any: return
        case .loopback:
            if authority.isLoopback { return }
            expected = "a name or an address of this machine's loopback"
        case .knownNames:
            if authority.isLoopback || authority.isAddress || authority.isLocalName { return }
            if let url = settings.url, authority.isHost(of: url) { return }
            expected = "an address, a name without a dot, or the one in --web-url"
        }
        throw WebFailure(
            .forbidden, "OPERATION_NOT_ALLOWED",
            "the Host has to be \(expected), because nobody logs in")
    }

    private func isOwn(_ origin: String, _ authority: String?) -> Bool {
        if origin == settings.url { return true }
        guard let authority else { return false }
        return origin == "http://" + authority || origin == "https://" + authority
    }

    /// The answer to a browser that asks what a page of another origin may send.
    func preflight(_ request: WebRequest) -> WebAnswer? {
        guard request.method == .options,
            request.headers[.accessControlRequestMethod] != nil,
            let origin = request.headers[.origin]
        else { return nil }
        var answer = WebAnswer(.noContent)
        if settings.origins.contains(origin) {
            answer.headers[.accessControlAllowMethods] = "GET, HEAD, POST, PUT, PATCH, DELETE"
            answer.headers[.accessControlAllowHeaders] =
                request.headers[.accessControlRequestHeaders] ?? "Content-Type"
        } else if service.isPublic, !isKii(request.target) {
            // Pages of everybody may ask for what is public, without credentials.
            answer.headers[.accessControlAllowMethods] = "GET, HEAD, POST"
            answer.headers[.accessControlAllowHeaders] = "Content-Type, Last-Event-ID"
        } else {
            return nil
        }
        answer.headers[.accessControlMaxAge] = "600"
        return answer
    }

    /// Lets a page of another origin read the answer, if `--web-origin` names it, or if everybody may
    /// read it and the request has no credentials.
    func permit(_ request: HTTPRequest, _ status: HTTPResponse.Status, _ fields: inout HTTPFields) {
        let origin = request.headerFields[.origin]
        if let origin, settings.origins.contains(origin) {
            fields[.accessControlAllowOrigin] = origin
        } else if status != .unauthorized, isPublic(request) {
            fields[.accessControlAllowOrigin] = "*"
        } else if settings.origins.isEmpty {
            fields[HTTPField.Name("Cross-Origin-Resource-Policy")!] = "same-origin"
        }
        if !settings.origins.isEmpty {
            fields[.vary] = [fields[.vary], "Origin"].compactMap { $0 }.joined(separator: ", ")
        }
        guard fields[.accessControlAllowOrigin] != nil else { return }
        fields[.accessControlExposeHeaders] = "ETag, Last-Modified, Link, Location, Retry-After"
    }

    /// Whether a request can do no more than read what everybody may: it has no credentials, and is
    /// none of Kii's, which may change something without any.
    private func isPublic(_ head: HTTPRequest) -> Bool {
        service.isPublic && !isKii(head.path ?? "") && head.headerFields[.authorization] == nil
            && cookie.session(in: head.headerFields) == nil
    }

    private func isKii(_ target: String) -> Bool {
        settings.kii != nil && KiiSite.hasTarget(target)
    }

    // MARK: Logins

    private static let loginAdvice =
        "send a token as Authorization: Bearer, or as the password of Basic"

    /// The caller by the request's token or session; one without a login if it has neither. Counts the
    /// request, and comes before anything else of it is read.
    ///
    /// - Throws: 401 for a token or a session that is not valid, 429 after too many failed logins or
    ///   requests.
    func caller(of request: WebRequest) throws(WebFailure) -> Caller {
        if let caller = request.caller { return caller }
        let caller = Caller(address: request.address, loginAdvice: Self.loginAdvice)
        let begin = service.clock.nanoseconds()
        do throws(ServiceFailure) {
            if service.requiresLogin { try identify(caller, by: request) }
            try service.checkIn(caller)
        } catch {
            throw refused(error, since: begin)
        }
        return caller
    }

    /// A request that is refused before a method has to do with it, counted.
    private func refused(_ failure: ServiceFailure, since begin: Int64) -> WebFailure {
        let refusal = WebFailure(failure)
        count(nil, refusal, since: begin)
        return refusal
    }

    /// Counts a request that no method answers.
    ///
    /// - Parameters:
    ///   - method: nil: whichever it calls, it has not been read.
    ///   - begin: when it began, by the service's clock.
    func count(_ method: MethodName?, _ failure: WebFailure?, since begin: Int64) {
        service.counters.count(
            method: method, errorCode: failure?.errorCode,
            nanoseconds: service.clock.nanoseconds() - begin)
    }

    private func identify(_ caller: Caller, by request: WebRequest) throws(ServiceFailure) {
        if let token = token(in: request.headers) {
            _ = try grant(of: token, caller) { token throws(ServiceFailure) in
                try service.identify(token, caller)
            }
        } else if let id = cookie.session(in: request.headers) {
            guard let session = sessions.caller(of: id, now: service.clock.milliseconds()),
                service.isLoggedIn(session)
            else {
                try service.checkLogin(from: caller.address)
                throw ServiceFailure(.unauthorized, "the session is over; log in again")
            }
            caller.shareLogin(of: session)
        }
    }

    private func grant(
        of token: String, _ caller: Caller,
        _ login: (String) throws(ServiceFailure) -> Grant
    ) throws(ServiceFailure) -> Grant {
        guard token.utf8.count <= service.limits.tokenBytes else {
            throw ServiceFailure(
                .invalidInputData,
                "a token has at most \(service.limits.tokenBytes) bytes", at: "token")
        }
        do throws(ServiceFailure) {
            return try login(token)
        } catch {
            logger.noteLogin(error, from: caller)
            throw error
        }
    }

    /// Refuses a caller who may not read a bucket, or with nil anything.
    func permit(_ caller: Caller, reading bucket: BucketName?) throws(WebFailure) {
        let begin = service.clock.nanoseconds()
        do throws(ServiceFailure) {
            try service.permit(caller, reading: bucket)
        } catch {
            throw refused(error, since: begin)
        }
    }

    /// The most bytes of a body with a token, of which every byte may be escaped.
    var loginBytes: Int { 6 * service.limits.tokenBytes + 1_024 }

    /// Counts a request to log in, before anything else of it is read.
    ///
    /// - Throws: 429.
    func checkLogin(_ request: WebRequest) throws(WebFailure) {
        let begin = service.clock.nanoseconds()
        do throws(ServiceFailure) {
            try service.checkLogin(from: request.address)
        } catch {
            let refusal = WebFailure(error)
            count(.login, refusal, since: begin)
            throw refusal
        }
    }

    /// Begins a session for the token in a form or a JSON object.
    func logIn(_ request: WebRequest) throws(WebFailure) -> WebAnswer {
        let begin = service.clock.nanoseconds()
        do throws(WebFailure) {
            let answer = try session(for: request)
            count(.login, nil, since: begin)
            return answer
        } catch {
            count(.login, error, since: begin)
            throw error
        }
    }

    private func session(for request: WebRequest) throws(WebFailure) -> WebAnswer {
        guard ["application/json", Self.form].contains(request.mediaType) else {
            throw .unsupportedType(["application/json", Self.form])
        }
        guard service.requiresLogin else {
            throw WebFailure(
                .badRequest, "OPERATION_NOT_ALLOWED", "the service has no tokens; nobody logs in")
        }
        let caller = Caller(address: request.address, loginAdvice: Self.loginAdvice)
        let grant: Grant
        do throws(ServiceFailure) {
            guard let token = Self.bodyToken(of: request) else {
                throw ServiceFailure(
                    .invalidInputData, "expected a string \"token\"", at: "token")
            }
            grant = try self.grant(of: token, caller) { token throws(ServiceFailure) in
                try service.logIn(token, caller)
            }
        } catch {
            throw WebFailure(error)
        }
        let now = service.clock.milliseconds()
        let end = min(grant.expires ?? .max, now + Sessions.milliseconds)
        let id = sessions.begin(caller, until: end, now: now)
        var writer = JSONWriter()
        writer.raw("{\"principal\":")
        writer.string(grant.principal)
        writer.key("role")
        writer.string(grant.role.rawValue)
        writer.byte(UInt8(ascii: "}"))
        var answer = WebAnswer("application/json", writer.bytes)
        answer.headers[.setCookie] = cookie.text(id, seconds: (end - now) / 1_000)
        return answer
    }

    /// Ends the session of the request, if it has one.
    func logOut(_ request: WebRequest) throws(WebFailure) -> WebAnswer {
        try request.check(methods: [.post])
        if let id = cookie.session(in: request.headers) { sessions.end(id) }
        return WebAnswer(.noContent, headers: [.setCookie: cookie.text("", seconds: 0)])
    }

    private static let form = "application/x-www-form-urlencoded"

    private static func bodyToken(of request: WebRequest) -> String? {
        if request.mediaType == form {
            return WebRequest.parameter("token", ofForm: request.body)
        }
        return try? JSONParser.reading(request.body) { view in
            view.kind == .object ? view["token"]?.string : nil
        }
    }
}
