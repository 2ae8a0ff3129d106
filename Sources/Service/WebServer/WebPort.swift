import HTTPGateway
import Logging
import NIOCore
import Objects
import QueryServer
import ServiceDesk
import ServiceLifecycle
import WebExchange

/// The service's data over HTTP.
///
///     let web = WebPort(service: service, workers: workers, settings: settings, …)
///     try await web.run()         // until a graceful stop is requested
///
/// - `/rpc`: the methods of the line protocol, one message or batch a request;
/// - `/watch`: a live query as server-sent events;
/// - `/login`, `/logout`: a session, for pages in a browser;
/// - `/map`: a page that shows what is in the buckets.
///
/// It has event loops and a bound of connections of its own.
public struct WebPort: ServiceLifecycle.Service {
    /// Where the server listens, and to whom it answers.
    public struct Settings: Sendable {
        /// The name or address to listen on.
        public var host: String
        /// The port; 0 takes a free one.
        public var port: Int
        /// The names under which clients may ask for the server.
        public var hosts: HostRule
        /// Origins of pages that may read answers, besides the server's own.
        public var origins: Set<String> = []
        /// Where clients reach the server, without a `/` at its end; nil for where a request says
        /// it was sent.
        public var url: String?
        /// The folder with the scripts of others that the map page uses, as Debian lays it out.
        public var assets = WebPort.Settings.standardAssets
        /// The map under the objects on the map page; nil for outlines and names of places.
        public var basemap: Basemap?
        /// Where the line port announces itself, for commands on the map page.
        public var linePort = LinePort()
        /// The application whose clients speak Kii's REST interface; nil for none.
        public var kii: KiiSettings?

        /// Where Debian's packages put scripts for browsers.
        public static let standardAssets = "/usr/share/javascript"

        /// Settings with no other origin, no URL and the standard folder of scripts.
        public init(host: String, port: Int, hosts: HostRule) {
            (self.host, self.port, self.hosts) = (host, port, hosts)
        }
    }

    /// Which `Host` a request may have. Where nobody logs in, a page of somebody else could reach the
    /// server through a browser, under a name that was made to lead here (DNS rebinding).
    public enum HostRule: Sendable {
        /// Any: callers log in.
        case any
        /// Names and addresses of this machine's loopback.
        case loopback
        /// Also other addresses, names without a dot, and the name in `Settings.url`.
        case knownNames
    }

    private let service: QueryService
    private let workers: Workers
    private let settings: Settings
    private let tls: TLSIdentity?
    private let nodes: NodeSecret?
    private let proxies: TrustedProxies
    private let logger: Logger
    private let listener: HTTPListener

    /// - Parameters:
    ///   - workers: the threads for long texts and costly reads, which the line port uses too.
    ///   - tls: nil for connections without TLS.
    ///   - nodes: the secret of the nodes that share the buckets; nil if this one has all of them.
    ///   - proxies: whose requests name the clients that they are passed on for.
    ///   - listening: called with the listening address once connections are accepted.
    public init(
        service: QueryService, workers: Workers, settings: Settings,
        tls: TLSIdentity? = nil, nodes: NodeSecret? = nil, proxies: TrustedProxies = .init(),
        logger: Logger,
        listening: @escaping @Sendable (_ host: String, _ port: Int) -> Void
    ) {
        (self.service, self.workers, self.settings) = (service, workers, settings)
        (self.tls, self.nodes, self.proxies, self.logger) = (tls, nodes, proxies, logger)
        var limits = HTTPConnectionLimits(service.limits)
        limits.connections = service.limits.webConnections
        limits.connectionsPerAddress = service.limits.webConnectionsOfAddress
        limits.isProxy = proxies.contains
        limits.headBytes = service.limits.webHeadBytes
        limits.kernelBytes = nil
        // A query waits for what is being built, and for a thread, before it takes its own time.
        limits.answerMilliseconds +=
            service.limits.columnWaitMilliseconds + service.limits.queueMilliseconds
            + service.limits.queryMilliseconds
        limits.interruptsAnswers = false
        var security: (@Sendable () -> any ChannelHandler)?
        if let tls { security = { tls.handler() } }
        listener = HTTPListener(
            host: settings.host, port: settings.port, limits: limits,
            threads: service.limits.connectionThreads, memory: service.connectionMemory,
            tls: security, listening: listening)
    }

    /// Serves until a graceful stop is requested.
    ///
    /// - Throws: when the server cannot listen on the address.
    public func run() async throws {
        let desk = AsyncDesk(
            Desk(service: service, workers: workers, logger: logger), nodes: otherNodes)
        let site = Site(
            service: service, desk: desk, settings: settings, proxies: proxies,
            isSecure: tls != nil, loop: listener.loop, logger: logger)
        let refusal: Refusal = { site.refusal(of: $0) }
        try await listener.run(refusal: refusal) { request, writer, connection in
            try await site.answer(request, writer, connection)
        }
    }

    private var otherNodes: NodeLinks? {
        guard let placement = service.placement, let nodes else { return nil }
        return NodeLinks.reached(
            over: listener.loop, as: nodes, tls, placement, service.limits, service.clock)
    }
}
