import Glibc
import HTTPTypes
import JSONText
import Logging
import Objects
import Operations
import QueryServer
import Runtime
import WebExchange

/// Who asks, and whether a browser does so for a page that may.
struct WebAccess: Sendable {
    private let service: Operations.Service
    private let settings: WebPort.Settings
    private let isSecure: Bool
    private let logger: Logger
    private let sessions = Sessions()

    /// - Parameter isSecure: whether connections have TLS.
    init(
        service: Operations.Service, settings: WebPort.Settings, isSecure: Bool, logger: Logger
    ) {
        (self.service, self.settings, self.isSecure) = (service, settings, isSecure)
        self.logger = logger
    }

    // MARK: Hosts and origins

    /// Refuses names that lead here only because somebody's name server says so, and writes that a
    /// browser sends for a page of somebody else. With a session's cookie that is every page but the
    /// service's own, because the browser adds the cookie by itself.
    func check(_ head: HTTPRequest) throws(WebFailure) {
        try checkHost(Authority(head.authority ?? ""))
        let reads: [HTTPRequest.Method] = [.get, .head, .options]
        guard !reads.contains(head.method), head.headerFields[.authorization] == nil else { return }
        let hasCookie = sessionID(in: head.headerFields) != nil
        let isPermitted =
            if let origin = head.headerFields[.origin] {
                isOwn(origin, head.authority) || !hasCookie && settings.origins.contains(origin)
            } else {
                !hasCookie
            }
        guard isPermitted else {
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
            let origin = request.headers[.origin], settings.origins.contains(origin)
        else { return nil }
        var answer = WebAnswer(.noContent)
        answer.headers[.accessControlAllowMethods] = "GET, HEAD, POST, PUT, PATCH, DELETE"
        answer.headers[.accessControlAllowHeaders] =
            request.headers[.accessControlRequestHeaders] ?? "Content-Type"
        answer.headers[.accessControlMaxAge] = "600"
        return answer
    }

    /// Lets a page of another origin read the answer, if `--web-origin` names it.
    func permit(_ request: HTTPRequest, _ fields: inout HTTPFields) {
        guard !settings.origins.isEmpty else {
            fields[HTTPField.Name("Cross-Origin-Resource-Policy")!] = "same-origin"
            return
        }
        fields[.vary] = "Origin"
        guard let origin = request.headerFields[.origin], settings.origins.contains(origin) else {
            return
        }
        fields[.accessControlAllowOrigin] = origin
        fields[.accessControlExposeHeaders] = "ETag, Last-Modified, Link, Location, Retry-After"
    }

    // MARK: Logins

    /// The caller by the request's token or session; one without a login if it has neither.
    ///
    /// - Throws: 401 for a token or a session that is not valid, 429 after too many failed logins.
    func caller(of request: WebRequest) throws(WebFailure) -> Caller {
        let caller = Caller(address: request.address)
        guard service.requiresLogin else { return caller }
        if let token = token(in: request.headers) {
            _ = try grant(of: token, caller)
        } else if let id = sessionID(in: request.headers) {
            guard let session = sessions.caller(of: id, now: service.clock.milliseconds()),
                service.isLoggedIn(session)
            else {
                throw WebFailure(
                    ServiceFailure(.unauthorized, "the session is over; log in again"))
            }
            caller.shareLogin(of: session)
        }
        return caller
    }

    private func grant(of token: String, _ caller: Caller) throws(WebFailure) -> Grant {
        guard token.utf8.count <= service.limits.tokenBytes else {
            throw .invalid("a token has at most \(service.limits.tokenBytes) bytes", at: "token")
        }
        do throws(ServiceFailure) {
            return try service.logIn(token, caller)
        } catch {
            logger.noteLogin(error, from: caller)
            throw WebFailure(error)
        }
    }

    /// Begins a session for the token in a form or a JSON object.
    func logIn(_ request: WebRequest) throws(WebFailure) -> WebAnswer {
        guard service.requiresLogin else {
            throw WebFailure(
                .badRequest, "OPERATION_NOT_ALLOWED", "the service has no tokens; nobody logs in")
        }
        guard let token = try Self.bodyToken(of: request) else {
            throw .invalid("expected a string \"token\"", at: "token")
        }
        let caller = Caller(address: request.address)
        let grant = try grant(of: token, caller)
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
        answer.headers[.setCookie] = cookie(id, seconds: (end - now) / 1_000)
        return answer
    }

    /// Ends the session of the request, if it has one.
    func logOut(_ request: WebRequest) throws(WebFailure) -> WebAnswer {
        try request.check(methods: [.post])
        if let id = sessionID(in: request.headers) { sessions.end(id) }
        return WebAnswer(.noContent, headers: [.setCookie: cookie("", seconds: 0)])
    }

    private func cookie(_ id: String, seconds: Int64) -> String {
        "\(Sessions.cookie)=\(id); Path=/; Max-Age=\(seconds); HttpOnly; SameSite=Strict"
            + (isSecure ? "; Secure" : "")
    }

    private static func bodyToken(of request: WebRequest) throws(WebFailure) -> String? {
        switch request.mediaType {
        case "application/x-www-form-urlencoded":
            let form = WebRequest.parameters(String(decoding: request.body, as: UTF8.self)[...])
            return form.first { $0.name == "token" }?.value
        case "application/json":
            return try? JSONParser.reading(request.body) { view in
                view.kind == .object ? view["token"]?.string : nil
            }
        default:
            throw .unsupportedType(["application/json", "application/x-www-form-urlencoded"])
        }
    }
}

// MARK: Headers

/// The token of `Authorization`: a bearer's, or the password of a user of any name.
private func token(in headers: HTTPFields) -> String? {
    guard let parts = headers[.authorization]?.split(separator: " ", maxSplits: 1) else {
        return nil
    }
    guard parts.count == 2 else { return "" }
    switch parts[0].lowercased() {
    case "bearer": return parts[1].trimmed
    case "basic":
        guard let bytes = Base64.decode(parts[1].trimmed),
            let colon = bytes.firstIndex(of: UInt8(ascii: ":"))
        else { return "" }
        return String(decoding: bytes[(colon + 1)...], as: UTF8.self)
    default: return ""
    }
}

/// The session of the cookie.
private func sessionID(in headers: HTTPFields) -> String? {
    for cookies in headers[values: .cookie] {
        for cookie in cookies.split(separator: ";") {
            let parts = cookie.trimmed.split(separator: "=", maxSplits: 1)
            if parts.count == 2, parts[0] == Sessions.cookie { return String(parts[1]) }
        }
    }
    return nil
}

/// The host that a client has asked for, by name or address.
private struct Authority {
    let host: String

    /// - Parameter text: `HOST`, `HOST:PORT`, an IPv6 host in brackets.
    init(_ text: some StringProtocol) {
        let host =
            text.hasPrefix("[")
            ? text.dropFirst().prefix { $0 != "]" } : text.prefix { $0 != ":" }
        self.host = host.lowercased()
    }

    /// Whether the host is this machine, by a name that no name server answers for.
    var isLoopback: Bool {
        if let address = ipv4 { return address >> 24 == 127 }
        return host == "localhost" || host.hasSuffix(".localhost") || host == "::1"
    }

    /// Whether the host is an address, which no name server gives.
    var isAddress: Bool {
        var address = in6_addr()
        return ipv4 != nil || inet_pton(AF_INET6, host, &address) == 1
    }

    /// Whether the host is a name that only the network around it knows.
    var isLocalName: Bool { !host.isEmpty && !host.contains(".") && !host.contains(":") }

    /// - Parameter url: `https://HOST…`
    func isHost(of url: String) -> Bool {
        guard let start = url.firstRange(of: "://") else { return false }
        return host == Authority(url[start.upperBound...].prefix { $0 != "/" }).host
    }

    private var ipv4: UInt32? {
        var address = in_addr()
        return inet_pton(AF_INET, host, &address) == 1 ? UInt32(bigEndian: address.s_addr) : nil
    }
}
