import Hummingbird
import Logging
import NIOCore
import NIOPosix
import Operations
import ServiceLifecycle

/// Health and metrics over HTTP, on a port and an event loop of their own.
///
/// - `/healthz`: 200 as long as the process answers;
/// - `/readyz`: 200 while requests are served, 503 while the store is opened or the service stops;
/// - `/metrics`: Prometheus' text format.
///
/// Nobody has to say who they are, and nothing is told of what is stored but counts and sizes.
public struct HTTPGateway: ServiceLifecycle.Service {
    private let host: String
    private let port: Int
    private let health: Health
    private let metrics: @Sendable () -> String
    private let logger: Logger
    private let listening: @Sendable (_ host: String, _ port: Int) -> Void

    /// Connections at once; more wait.
    private static let connections = 256
    /// A connection that says nothing for so long is closed.
    private static let idle = TimeAmount.seconds(60)

    /// - Parameters:
    ///   - port: 0 takes a free one.
    ///   - metrics: the text of `/metrics`, made for each request.
    ///   - listening: called once connections are accepted, with the address they are accepted at.
    public init(
        host: String, port: Int, health: Health, metrics: @escaping @Sendable () -> String,
        logger: Logger, listening: @escaping @Sendable (_ host: String, _ port: Int) -> Void
    ) {
        self.host = host
        self.port = port
        self.health = health
        self.metrics = metrics
        self.logger = logger
        self.listening = listening
    }

    public func run() async throws {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let (host, port, listening) = (host, port, listening)
        var logger = logger
        // Of the library's own lines only its complaints are of interest.
        logger.logLevel = max(logger.logLevel, .warning)
        let application = Application(
            router: router,
            server: .http1(configuration: .init(idleTimeout: Self.idle)),
            configuration: ApplicationConfiguration(
                address: .hostname(host, port: port), serverName: nil,
                availableConnectionsDelegate: .maximum(Self.connections, logger: logger)),
            onServerRunning: { channel in
                let address = channel.localAddress
                listening(address?.ipAddress ?? host, address?.port ?? port)
            },
            eventLoopGroupProvider: .shared(group), logger: logger)
        do {
            try await application.run()
        } catch {
            try await group.shutdownGracefully()
            throw error
        }
        try await group.shutdownGracefully()
    }

    private var router: Router<BasicRequestContext> {
        let router = Router(options: .autoGenerateHeadEndpoints)
        let (health, metrics) = (health, metrics)
        router.get("healthz") { _, _ in Self.text("alive\n") }
        router.get("readyz") { _, _ in
            let state = health.state
            return Self.text("\(state)\n", state == .ready ? .ok : .serviceUnavailable)
        }
        router.get("metrics") { _, _ in
            Self.text(metrics(), contentType: PrometheusText.contentType)
        }
        return router
    }

    private static func text(
        _ text: String, _ status: HTTPResponse.Status = .ok,
        contentType: String = "text/plain; charset=utf-8"
    ) -> Response {
        Response(
            status: status, headers: [.contentType: contentType, .cacheControl: "no-store"],
            body: .init(byteBuffer: ByteBuffer(string: text)))
    }
}
