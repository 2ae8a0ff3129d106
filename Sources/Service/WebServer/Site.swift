import HTTPGateway
import HTTPTypes
import HummingbirdCore
import Listeners
import Logging
import NIOCore
import Objects
import QueryServer
import Runtime
import ServiceDesk
import WebExchange

/// Answers each request of the web port: reads it, finds out what it asks for, and sends the answer.
struct Site: Sendable {
    private let service: QueryService
    private let access: WebAccess
    private let messages: MessageSite
    private let watches: WatchSite
    private let gis: GISSite
    private let kii: KiiSite?
    private let pages: PageSite
    private let basemap: BasemapSite?
    /// The fields of every answer that protect pages.
    private let protection: [(HTTPField.Name, String)]
    private let reader: RequestReader
    /// Whether browsers are told to come by TLS alone: clients reach the port by it.
    private let demandsTLS: Bool

    /// - Parameters:
    ///   - isSecure: whether connections have TLS.
    ///   - loop: the event loop of the connections.
    init(
        service: QueryService, desk: AsyncDesk, settings: WebPort.Settings,
        proxies: TrustedProxies, isSecure: Bool, loop: any EventLoop, logger: Logger
    ) {
        self.service = service
        access = WebAccess(
            service: service, settings: settings, isSecure: isSecure, logger: logger)
        messages = MessageSite(service: service, desk: desk, access: access)
        let operations = WebService(limits: service.limits, desk: desk, access: access)
        let catalog = Catalog(operations: operations, now: service.clock.milliseconds)
        gis = GISSite(
            operations: operations, catalog: catalog, now: service.clock.milliseconds)
        watches = WatchSite(
            service: service, desk: desk, access: access, catalog: catalog, loop: loop)
        kii = settings.kii.map { KiiSite(operations: operations, settings: $0) }
        basemap = BasemapSite(settings.basemap)
        pages = PageSite(
            assets: settings.assets,
            settings: PageSettings(
                linePort: settings.linePort, isLineEncrypted: isSecure, basemap: settings.basemap))
        protection = [
            (.contentSecurityPolicy, ContentSecurityPolicy.text(for: settings.basemap)),
            (.xContentTypeOptions, "nosniff"),
            (HTTPField.Name("Referrer-Policy")!, "no-referrer"),
        ]
        demandsTLS = settings.url?.hasPrefix("https://") == true
        reader = RequestReader(
            limits: service.limits, settings: settings, proxies: proxies, isSecure: isSecure)
    }

    /// Answers one request.
    func answer(
        _ request: Request, _ writer: consuming ResponseWriter, _ connection: HTTPConnection
    ) async throws {
        var web = reader.request(request.head, on: connection)
        var refusal: WebAnswer?
        do throws(WebFailure) {
            try access.check(request.head)
            web.address = try reader.client(of: request.head, on: connection)
            if let kii, KiiSite.hasTarget(web.target), web.method != .options {
                refusal = kii.refusal(of: &web)
            }
            if refusal == nil {
                web.body = try await body(of: request, &web, on: connection) {
                    try await writer.writeInformationalHead(HTTPResponse(status: .continue))
                }
            }
        } catch {
            // What is left of the body would be taken for the next request.
            let answer = answer(for: error, at: web.target)
            return try await send(answer, to: request.head, writer, connection, isLast: true)
        }
        defer { reader.end(web.body, on: connection) }
        if let refusal { return try await send(refusal, to: request.head, writer, connection) }
        if web.path == ["watch"], web.method == .get {
            return try await watch(web, to: request.head, writer, connection)
        }
        let answer = await answer(web, connection.channel)
        try await send(answer, to: request.head, writer, connection)
    }

    /// The body of a request whose path takes one. Who sends it is found out before, and how often.
    private func body(
        of request: Request, _ web: inout WebRequest, on connection: HTTPConnection,
        _ goOn: () async throws -> Void
    ) async throws(WebFailure) -> [UInt8] {
        let limit: Int
        switch web.path {
        case ["rpc"] where web.method == .post:
            web.caller = try access.caller(of: web)
            limit = service.limits.lineBytes
        case ["login"] where web.method == .post:
            try access.checkLogin(web)
            limit = access.loginBytes
        default:
            guard kii != nil, KiiSite.hasTarget(web.target) else { return [] }
            limit = service.limits.lineBytes
        }
        let begin = service.clock.nanoseconds()
        do throws(WebFailure) {
            return try await reader.body(of: request, atMost: limit, on: connection, goOn)
        } catch {
            // Somebody who has to log in is told so, and not how long a body may be.
            if error.status == .contentTooLarge, let caller = web.caller {
                try access.permit(caller, reading: nil)
            }
            access.count(web.path == ["login"] ? .login : nil, error, since: begin)
            throw error
        }
    }

    /// The answer to a request that cannot be read.
    func refusal(of fault: RequestFault) -> (head: HTTPResponse, body: [UInt8]) {
        let failure =
            switch fault {
            case .headTooLong:
                WebFailure(
                    .requestHeaderFieldsTooLarge, "LINE_TOO_LONG",
                    "the head of the request is longer than \(service.limits.webHeadBytes) bytes")
            case .malformed: WebFailure(.badRequest, "INVALID_REQUEST", "expected HTTP/1.1")
            case .hosts: WebFailure(.badRequest, "INVALID_REQUEST", "expected one Host")
            }
        let unknown = HTTPRequest(method: .get, scheme: nil, authority: nil, path: nil)
        let answer = failure.answer
        return (head(of: answer, to: unknown), answer.bytes ?? [])
    }

    private func answer(_ request: WebRequest, _ channel: any Channel) async -> WebAnswer {
        do throws(WebFailure) {
            if let preflight = access.preflight(request) { return preflight }
            if service.health.state == .draining {
                throw WebFailure(ServiceFailure(.temporarilyUnavailable, "the service stops"))
            }
            return try await find(request, channel)
        } catch {
            return answer(for: error, at: request.target)
        }
    }

    private func answer(for failure: WebFailure, at target: String) -> WebAnswer {
        kii != nil && KiiSite.hasTarget(target) ? KiiSite.answer(for: failure) : failure.answer
    }

    private func find(
        _ request: WebRequest, _ channel: any Channel
    ) async throws(WebFailure) -> WebAnswer {
        if let kii, KiiSite.hasTarget(request.target) { return await kii.answer(request) }
        return switch request.path.first {
        case "rpc" where request.path.count == 1: try await messages.answer(request, channel)
        case "watch" where request.path.count == 1: throw .methodNotAllowed([.get])
        case "login" where request.path.count == 1 && request.method == .post:
            try access.logIn(request)
        case "logout" where request.path.count == 1: try access.logOut(request)
        case "tiles", "ogc": try await gis.answer(request)
        case "map" where request.path == BasemapSite.path: try answerWithBasemap(request)
        default: try pages.answer(request)
        }
    }

    /// The tiles may be somebody's data: who reads them logs in.
    private func answerWithBasemap(_ request: WebRequest) throws(WebFailure) -> WebAnswer {
        guard let basemap else { throw .notFound }
        try access.permit(access.caller(of: request), reading: nil)
        return try basemap.answer(request)
    }

    // MARK: Watches

    /// Answers with a stream that lasts as long as the client reads it.
    private func watch(
        _ request: WebRequest, to head: HTTPRequest, _ writer: consuming ResponseWriter,
        _ connection: HTTPConnection
    ) async throws {
        let stream: EventStream
        do throws(WebFailure) {
            stream = try await watches.start(request, by: access.caller(of: request))
        } catch {
            return try await send(error.answer, to: head, writer, connection)
        }
        defer { watches.end(stream) }
        connection.count { stream.waitingBytes }
        defer { connection.count(nil) }
        let client = ClientPresence.current
        client?.onEnd { stream.end() }
        defer { client?.onEnd(nil) }
        var answer = EventStream.head
        answer.body = .streamed { try await stream.write(to: $0) }
        try await send(answer, to: head, writer, connection)
    }

    // MARK: Answers

    private func send(
        _ answer: WebAnswer, to request: HTTPRequest, _ writer: consuming ResponseWriter,
        _ connection: HTTPConnection, isLast: Bool = false
    ) async throws {
        var answer = answer
        let encoding = AnswerEncoding(of: answer, for: request)
        encoding?.apply(to: &answer)
        var head = head(of: answer, to: request)
        if isLast { head.headerFields[.connection] = "close" }
        switch answer.body {
        case .whole(let bytes):
            let isBodiless = answer.status == .noContent || answer.status == .notModified
            if !isBodiless { head.headerFields[.contentLength] = String(bytes.count) }
            guard request.method != .head, !isBodiless else {
                return try await writer.writeResponse(head)
            }
            try await connection.send(head, bytes, isShared: answer.isShared, writer)
        case .streamed(let write):
            guard request.method != .head else { return try await writer.writeResponse(head) }
            let pieces = BodyPieces(try await writer.writeHead(head), connection)
            try await write(pieces)
            try await pieces.finish()
        }
        if isLast { throw CancellationError() }
    }

    /// The head, with the fields that every answer has.
    private func head(of answer: WebAnswer, to request: HTTPRequest) -> HTTPResponse {
        var fields = answer.headers
        fields[.date] = httpDate(service.clock.milliseconds() / 1_000)
        if fields[.cacheControl] == nil { fields[.cacheControl] = "no-store" }
        if answer.status == .serviceUnavailable, fields[.retryAfter] == nil {
            fields[.retryAfter] = "\(Self.retrySeconds)"
        }
        for (name, value) in protection { fields[name] = value }
        if demandsTLS { fields[.strictTransportSecurity] = "max-age=31536000" }
        access.permit(request, answer.status, &fields)
        return HTTPResponse(status: answer.status, headerFields: fields)
    }

    /// When to come again if the service is unavailable and does not know better; seconds.
    private static let retrySeconds = 5
}

/// The body of one answer, on its way to the connection.
private final class BodyPieces: WebBodyWriter, @unchecked Sendable {
    // Used by one task at a time: the one that writes the body.
    private var output: any ResponseBodyWriter
    private let connection: HTTPConnection

    init(_ output: any ResponseBodyWriter, _ connection: HTTPConnection) {
        (self.output, self.connection) = (output, connection)
    }

    func write(_ piece: [UInt8]) async throws { try await connection.send(piece, &output) }

    func finish() async throws { try await output.finish(nil) }
}
