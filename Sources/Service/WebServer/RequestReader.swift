import HTTPTypes
import HummingbirdCore
import NIOCore
import Objects
import QueryServer
import Synchronization
import WebExchange

/// Reads requests whole, within the limits of one body and of all together.
final class RequestReader: Sendable {
    /// The memory of a request that has been read; `end` gives it back.
    struct Reading {
        fileprivate let reader: RequestReader
        fileprivate let bytes: Int

        func end() { reader.used.subtract(bytes, ordering: .relaxed) }
    }

    private let bodyBytes: Int
    private let allBytes: Int
    private let scheme: String
    private let url: String?
    private let proxies: TrustedProxies
    private let used = Atomic(0)

    init(
        limits: Limits, settings: WebPort.Settings, proxies: TrustedProxies, isSecure: Bool
    ) {
        (bodyBytes, allBytes) = (limits.lineBytes, limits.bufferedBytes)
        scheme = isSecure ? "https" : "http"
        url = settings.url
        self.proxies = proxies
    }

    /// Reads a request's body.
    ///
    /// - Throws: 413 for a body that is too long, 503 when all requests together hold too much, 400
    ///   for one without an end.
    func read(
        _ request: Request, _ channel: any Channel
    ) async throws(WebFailure) -> (WebRequest, Reading) {
        var body: [UInt8] = []
        do {
            if let length = request.headers[.contentLength].flatMap({ Int($0) }) {
                try check(length)
            }
            for try await part in request.body {
                try check(body.count + part.readableBytes)
                used.add(part.readableBytes, ordering: .relaxed)
                body += part.readableBytesView
            }
        } catch {
            used.subtract(body.count, ordering: .relaxed)
            throw error as? WebFailure
                ?? WebFailure(.badRequest, "INVALID_REQUEST", "the request has no end")
        }
        let head = request.head
        let client = try proxies.client(
            behind: channel.remoteAddress, by: head.headerFields)
        let web = WebRequest(
            head.method, head.path ?? "/", headers: head.headerFields, body: body,
            address: client?.clientAddress ?? "unknown",
            base: url ?? "\(scheme)://\(head.authority ?? "localhost")")
        return (web, Reading(reader: self, bytes: body.count))
    }

    private func check(_ bytes: Int) throws(WebFailure) {
        guard bytes <= bodyBytes else {
            throw WebFailure(
                .contentTooLarge, "LINE_TOO_LONG",
                "the body of the request is longer than \(bodyBytes) bytes")
        }
        guard used.load(ordering: .relaxed) <= allBytes else {
            throw WebFailure(
                ServiceFailure(
                    .temporarilyUnavailable, "the service holds too much for all its requests"))
        }
    }
}
