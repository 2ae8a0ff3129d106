import HTTPTypes
import HummingbirdCore
import NIOCore
import Objects
import Runtime
import ServiceDesk
import ServiceLifecycle

/// Health and metrics over HTTP, on a separate port and event loop.
///
/// - `/healthz`: 200 as long as the process answers;
/// - `/readyz`: 200 while requests are served, 503 while the store is opened or the service stops;
/// - `/metrics`: Prometheus' text format.
///
/// It requires no login, and tells nothing about the stored data except counts, sizes and
/// the names of the busiest buckets.
public struct GatewayServer: ServiceLifecycle.Service {
    private let listener: HTTPListener
    private let health: Health
    private let metrics: @Sendable () -> String

    /// - Parameters:
    ///   - port: 0 takes a free one.
    ///   - metrics: the text of `/metrics`, made for each request.
    ///   - listening: called with the listening address once connections are accepted.
    public init(
        host: String, port: Int, health: Health, metrics: @escaping @Sendable () -> String,
        limits: Limits = Limits(),
        listening: @escaping @Sendable (_ host: String, _ port: Int) -> Void
    ) {
        self.health = health
        self.metrics = metrics
        listener = HTTPListener(
            host: host, port: port, limits: HTTPConnectionLimits(limits), threads: 1,
            memory: ConnectionMemory(limit: limits.bufferedBytes), listening: listening)
    }

    /// Serves until a graceful stop is requested.
    ///
    /// - Throws: when the gateway cannot listen on the address.
    public func run() async throws {
        try await listener.run { request, writer, connection in
            let (head, body) = answer(request)
            guard request.method != .head else { return try await writer.writeResponse(head) }
            try await connection.send(head, body, writer)
        }
    }

    // MARK: Answers

    private typealias Answer = (head: HTTPResponse, body: [UInt8])

    private func answer(_ request: Request) -> Answer {
        guard let page = page(request.uri.path.split(separator: "/")) else {
            return Self.text("there are /healthz, /readyz and /metrics\n", .notFound)
        }
        switch request.method {
        case .get, .head: return page()
        default:
            var refusal = Self.text("it is there to be read: GET or HEAD\n", .methodNotAllowed)
            refusal.head.headerFields[.allow] = "GET, HEAD"
            return refusal
        }
    }

    private func page(_ path: [Substring]) -> (() -> Answer)? {
        switch path {
        case ["healthz"]: return { Self.text("alive\n") }
        case ["readyz"]:
            return {
                let state = health.state
                guard state != .ready else { return Self.text("\(state)\n") }
                var refusal = Self.text("\(state)\n", .serviceUnavailable)
                refusal.head.headerFields[.retryAfter] = "1"
                return refusal
            }
        case ["metrics"]:
            return { Self.text(metrics(), contentType: PrometheusText.contentType) }
        default: return nil
        }
    }

    private static func text(
        _ text: String, _ status: HTTPResponse.Status = .ok,
        contentType: String = "text/plain; charset=utf-8"
    ) -> Answer {
        let body = Array(text.utf8)
        let headers: HTTPFields = [
            .contentType: contentType, .cacheControl: "no-store",
            .date: httpDate(wallMilliseconds() / 1_000), .contentLength: String(body.count),
        ]
        return (HTTPResponse(status: status, headerFields: headers), body)
    }
}
