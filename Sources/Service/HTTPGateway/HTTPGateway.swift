import HTTPTypes
import HummingbirdCore
import Listeners
import Logging
import NIOCore
import NIOPosix
import Objects
import Operations
import Runtime
import ServiceLifecycle

/// Health and metrics over HTTP, on a separate port and event loop.
///
/// - `/healthz`: 200 as long as the process answers;
/// - `/readyz`: 200 while requests are served, 503 while the store is opened or the service stops;
/// - `/metrics`: Prometheus' text format.
///
/// It requires no login, and tells nothing about the stored data except counts and sizes.
public struct HTTPGateway: ServiceLifecycle.Service {
    private let host: String
    private let port: Int
    private let health: Health
    private let metrics: @Sendable () -> String
    private let limits: Limits
    private let listening: @Sendable (_ host: String, _ port: Int) -> Void

    /// Never shut down: the library's connections still submit tasks after it has reported them
    /// closed.
    private static let loop = MultiThreadedEventLoopGroup(numberOfThreads: 1).next()

    /// - Parameters:
    ///   - port: 0 takes a free one.
    ///   - metrics: the text of `/metrics`, made for each request.
    ///   - listening: called with the listening address once connections are accepted.
    public init(
        host: String, port: Int, health: Health, metrics: @escaping @Sendable () -> String,
        limits: Limits = Limits(),
        listening: @escaping @Sendable (_ host: String, _ port: Int) -> Void
    ) {
        self.host = host
        self.port = port
        self.health = health
        self.metrics = metrics
        self.limits = limits
        self.listening = listening
    }

    /// Serves until a graceful stop is requested. Cancellation causes a graceful stop too: when the
    /// library itself is cancelled, it drops connections that it has accepted but not begun to
    /// serve, which traps.
    ///
    /// - Throws: when the gateway cannot listen on the address.
    public func run() async throws {
        let silent = Logger(label: "http") { _ in SwiftLogNoOpLogHandler() }
        let group = ServiceGroup(services: [Serving(gateway: self, logger: silent)], logger: silent)
        let serving = Task { try await group.run() }
        let stop: @Sendable () -> Void = { Task { await group.triggerGracefulShutdown() } }
        try await withTaskCancellationHandler {
            try await withGracefulShutdownHandler {
                try await serving.value
            } onGracefulShutdown: {
                stop()
            }
        } onCancel: {
            stop()
        }
    }

    /// The server, as a task of its own.
    private struct Serving: ServiceLifecycle.Service {
        let gateway: HTTPGateway
        /// Silent: fatal errors are thrown, and the library's other messages concern only itself.
        let logger: Logger

        func run() async throws { try await gateway.serve(logger) }
    }

    private func serve(_ logger: Logger) async throws {
        let (host, port, listening, loop) = (host, port, listening, Self.loop)
        let connections = NIOLoopBoundBox.makeBoxSendingValue(
            HTTPConnections(limits: limits), eventLoop: loop)
        let looks = loop.scheduleRepeatedTask(initialDelay: .zero, delay: .milliseconds(100)) { _ in
            connections.value.closeLate(now: .now())
        }
        defer { looks.cancel() }
        let http = HTTP1Channel { request, writer, _ in
            let answer = answer(request)
            try await writer.write(response: answer.head, body: answer.body)
        }
        let server = Server(
            childChannelSetup: CountedChannel(http: http, connections: connections),
            configuration: ServerConfiguration(address: .hostname(host, port: port)),
            onServerRunning: { channel in
                try? await loop.submit {
                    let pause = AcceptPause { _, _ in connections.value.makeRoom() }
                    try channel.pipeline.syncOperations.addHandler(pause, position: .first)
                }.get()
                let address = channel.localAddress
                listening(address?.ipAddress ?? host, address?.port ?? port)
            },
            eventLoopGroup: loop, logger: logger)
        try await server.run()
    }

    // MARK: Answers

    private func answer(_ request: Request) -> Response {
        guard let page = page(request.uri.path.split(separator: "/")) else {
            return Self.text("there are /healthz, /readyz and /metrics\n", .notFound)
        }
        switch request.method {
        case .get: return page()
        case .head: return page().createHeadResponse()
        default:
            var refusal = Self.text("it is there to be read: GET or HEAD\n", .methodNotAllowed)
            refusal.headers[.allow] = "GET, HEAD"
            return refusal
        }
    }

    private func page(_ path: [Substring]) -> (() -> Response)? {
        switch path {
        case ["healthz"]: return { Self.text("alive\n") }
        case ["readyz"]:
            return {
                let state = health.state
                return Self.text("\(state)\n", state == .ready ? .ok : .serviceUnavailable)
            }
        case ["metrics"]:
            return { Self.text(metrics(), contentType: PrometheusText.contentType) }
        default: return nil
        }
    }

    private static func text(
        _ text: String, _ status: HTTPResponse.Status = .ok,
        contentType: String = "text/plain; charset=utf-8"
    ) -> Response {
        let headers: HTTPFields = [
            .contentType: contentType, .cacheControl: "no-store",
            .date: httpDate(wallMilliseconds() / 1_000),
        ]
        return Response(
            status: status, headers: headers,
            body: .init(byteBuffer: ByteBuffer(string: text)))
    }
}
