import HTTPGateway
import HTTPTypes
import HummingbirdCore
import NIOCore
import Objects
import QueryServer
import Synchronization
import WebExchange

/// Reads requests: their heads at once, their bodies when somebody wants them, within the limits of one
/// body and of all together.
final class RequestReader: Sendable {
    private let allBytes: Int
    private let scheme: String
    private let url: String?
    private let proxies: TrustedProxies
    private let used = Atomic(0)

    init(
        limits: Limits, settings: WebPort.Settings, proxies: TrustedProxies, isSecure: Bool
    ) {
        allBytes = limits.bufferedBytes
        scheme = isSecure ? "https" : "http"
        url = settings.url
        self.proxies = proxies
    }

    /// A request without its body, from the address of its connection.
    func request(_ head: HTTPRequest, on connection: HTTPConnection) -> WebRequest {
        WebRequest(
            head.method, head.path ?? "/", headers: head.headerFields,
            address: connection.address,
            base: url ?? "\(scheme)://\(head.authority ?? "localhost")")
    }

    /// The client of a request, whose connection may be one of a proxy.
    ///
    /// - Throws: 400 if the proxy says it in a way that cannot be read.
    func client(of head: HTTPRequest, on connection: HTTPConnection) throws(WebFailure) -> String {
        let client = try proxies.client(
            behind: connection.channel.remoteAddress, by: head.headerFields)
        return client?.clientAddress ?? "unknown"
    }

    /// Reads a request's body; `end` gives its memory back.
    ///
    /// - Parameters:
    ///   - limit: the most bytes, also of what a body in gzip unpacks to.
    ///   - goOn: asks a client for its body that waits for that (`Expect: 100-continue`).
    /// - Throws: 413 for a body that is too long, 415 for an encoding other than gzip, 503 when all
    ///   requests together hold too much, 400 for one without an end.
    func body(
        of request: Request, atMost limit: Int, on connection: HTTPConnection,
        _ goOn: () async throws -> Void
    ) async throws(WebFailure) -> [UInt8] {
        var body: [UInt8] = []
        do {
            let isPacked = try isPacked(request)
            if let length = request.headers[.contentLength].flatMap({ Int($0) }) {
                try check(length, limit)
            }
            if request.headers[.expect]?.lowercased() == "100-continue" { try await goOn() }
            try await isPacked
                ? unpack(request, &body, limit, connection)
                : read(request, &body, limit, connection)
        } catch {
            end(body, on: connection)
            throw error as? WebFailure
                ?? WebFailure(.badRequest, "INVALID_REQUEST", "the request has no end")
        }
        return body
    }

    private func read(
        _ request: Request, _ body: inout [UInt8], _ limit: Int, _ connection: HTTPConnection
    ) async throws {
        for try await part in request.body {
            try check(body.count + part.readableBytes, limit)
            hold(part.readableBytes, connection)
            body += part.readableBytesView
        }
    }

    private func unpack(
        _ request: Request, _ body: inout [UInt8], _ limit: Int, _ connection: HTTPConnection
    ) async throws {
        connection.hold(Gunzip.memoryBytes)
        defer { connection.release(Gunzip.memoryBytes) }
        var gunzip = Gunzip()
        for try await part in request.body {
            let former = body.count
            // A failure gives back what is held of the body.
            defer { hold(body.count - former, connection) }
            try part.withUnsafeReadableBytes { bytes in
                try gunzip.unpack(bytes, into: &body) { length throws(WebFailure) in
                    try check(length, limit)
                }
            }
        }
        guard gunzip.isWhole else { throw Gunzip.fault("the gzip of the body has no end") }
    }

    private func hold(_ bytes: Int, _ connection: HTTPConnection) {
        used.add(bytes, ordering: .relaxed)
        connection.hold(bytes)
    }

    /// Whether the body is gzip.
    private func isPacked(_ request: Request) throws(WebFailure) -> Bool {
        let encoding = (request.headers[.contentEncoding] ?? "identity").lowercased()
        switch encoding {
        case "identity", "": return false
        case "gzip", "x-gzip": return true
        default:
            var failure = WebFailure(
                .unsupportedMediaType, "UNSUPPORTED_MEDIA_TYPE",
                "the Content-Encoding of a body has to be gzip, or there is none")
            failure.headers[.acceptEncoding] = "gzip"
            throw failure
        }
    }

    /// A body is not needed any more.
    func end(_ body: [UInt8], on connection: HTTPConnection) {
        used.subtract(body.count, ordering: .relaxed)
        connection.release(body.count)
    }

    private func check(_ bytes: Int, _ limit: Int) throws(WebFailure) {
        guard bytes <= limit else {
            throw WebFailure(
                .contentTooLarge, "LINE_TOO_LONG",
                "the body of the request is longer than \(limit) bytes")
        }
        guard used.load(ordering: .relaxed) <= allBytes else {
            throw WebFailure(
                ServiceFailure(
                    .temporarilyUnavailable, "the service holds too much for all its requests"))
        }
    }
}
