import Listeners
import LiveQueries
import Logging
import NIOCore
import NIOPosix
import Objects
import Runtime
import ServiceDesk
import ServiceLifecycle

/// The service on a TCP port: JSON-RPC 2.0, one message a line.
///
///     let server = LineServer(service: service, host: "127.0.0.1", port: 4362, …)
///     try await server.run()       // until the task is cancelled or a graceful stop is requested
///
/// Each connection belongs to one of several event loops; costly queries run on worker threads.
public struct LineServer: ServiceLifecycle.Service {
    private let service: QueryService
    private let host: String
    private let port: Int
    private let drainTime: Duration
    private let tls: TLSIdentity?
    private let nodes: NodeSecret?
    private let proxies: TrustedProxies
    private let workers: Workers
    private let logger: Logger
    private let ready: @Sendable (_ host: String, _ port: Int) -> Void

    /// - Parameters:
    ///   - port: 0 takes a free one.
    ///   - drainTime: how long a graceful stop waits for pending answers.
    ///   - tls: nil for connections without TLS.
    ///   - nodes: the secret of the nodes that share the buckets; nil if this one has all of them.
    ///   - proxies: who has to say, in a header of the PROXY protocol, for which client it connects.
    ///   - workers: worker threads that outlive the server.
    ///   - ready: called with the listening address once connections are accepted.
    public init(
        service: QueryService, host: String, port: Int, drainTime: Duration,
        tls: TLSIdentity? = nil, nodes: NodeSecret? = nil, proxies: TrustedProxies = .init(),
        workers: Workers, logger: Logger,
        ready: @escaping @Sendable (_ host: String, _ port: Int) -> Void
    ) {
        self.service = service
        self.host = host
        self.port = port
        self.drainTime = drainTime
        self.tls = tls
        self.nodes = nodes
        self.proxies = proxies
        self.workers = workers
        self.logger = logger
        self.ready = ready
    }

    /// Serves until a graceful stop is requested and the pending answers have been sent, or
    /// `drainTime` is over.
    ///
    /// - Throws: when the server cannot listen on the address.
    public func run() async throws {
        let group = eventLoops(service.limits.connectionThreads)
        do {
            try await serve(group)
        } catch {
            try await group.shutdownGracefully()
            throw error
        }
        try await group.shutdownGracefully()
    }

    private func serve(_ group: MultiThreadedEventLoopGroup) async throws {
        let connections = OpenConnections()
        let room = WriteRoom(bytes: service.limits.queuedWriteBytes)
        let executor = LoopExecutor()
        defer { executor.close() }
        let listener = try await bind(
            group, schedulers(group, executor, room), connections)
        let address = listener.localAddress
        service.health.state = .ready
        ready(address?.ipAddress ?? host, address?.port ?? port)
        try? await gracefulShutdown()
        service.health.state = .draining
        await withdraw()
        try? await listener.close()
        logger.info("stopping", metadata: ["connections": .stringConvertible(connections.count)])
        // Connections tell the end of their watches while they drain.
        await blocking("watches' end") { [watches = service.watches] in watches.stop() }
        try await connections.drain(for: drainTime, room, timedBy: group.next()).get()
    }

    /// Lets other nodes pass requests on to others, before this one stops.
    private func withdraw() async {
        guard nodes != nil, let placement = service.placement else { return }
        await blocking("withdrawal") { placement.withdraw() }
        try? await Task.sleep(for: Self.withdrawal)
    }

    /// The time after which every other node knows that this one stops: they look once a second.
    private static let withdrawal = Duration.milliseconds(1_500)

    private func bind(
        _ group: MultiThreadedEventLoopGroup,
        _ schedulers: [ObjectIdentifier: NIOLoopBoundBox<LoopScheduler>],
        _ connections: OpenConnections
    ) async throws -> any Channel {
        let desk = Desk(service: service, workers: workers, logger: logger)
        let limits = service.limits
        return try await ServerBootstrap(group: group)
            .serverChannelOption(.backlog, value: 1_024)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .serverChannelInitializer { [logger] channel in
                channel.eventLoop.makeCompletedFuture {
                    let pause = AcceptPause { error, isFirst in
                        guard isFirst else { return }
                        logger.warning(
                            "connections cannot be accepted; tried again ten times a second",
                            metadata: ["reason": "\(error)"])
                    }
                    try channel.pipeline.syncOperations.addHandler(pause)
                }
            }
            .childChannelOption(.autoRead, value: false)
            .childChannelOption(.allowRemoteHalfClosure, value: true)
            .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
            .childChannelOption(.unsentBytes, value: maximumUnsentBytes)
            .childChannelOption(
                .writeBufferWaterMark,
                value: .init(low: limits.outputBytes / 4, high: limits.outputBytes / 2)
            )
            .childChannelOption(.socketOption(.so_keepalive), value: 1)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    let scheduler = schedulers[ObjectIdentifier(channel.eventLoop)]!.value
                    let address = channel.remoteAddress
                    guard proxies.contains(address) else {
                        return try add(channel, address, desk, scheduler, connections)
                    }
                    let timeout = TimeAmount.milliseconds(Int64(limits.handshakeMilliseconds))
                    let header = ProxyHeaderHandler(timeout: timeout) { client in
                        try add(channel, client ?? address, desk, scheduler, connections)
                    }
                    try channel.pipeline.syncOperations.addHandler(header)
                }
            }
            .bind(host: host, port: port).get()
    }

    /// A scheduler for each event loop, used by that loop's connections alone.
    private func schedulers(
        _ group: MultiThreadedEventLoopGroup, _ executor: LoopExecutor, _ room: WriteRoom
    ) -> [ObjectIdentifier: NIOLoopBoundBox<LoopScheduler>] {
        var schedulers: [ObjectIdentifier: NIOLoopBoundBox<LoopScheduler>] = [:]
        for loop in group.makeIterator() {
            let scheduler = NIOLoopBoundBox.makeBoxSendingValue(
                LoopScheduler(
                    service: service, eventLoop: loop, executor: executor, room: room,
                    connectionMemory: service.connectionMemory, links: links(on: loop)),
                eventLoop: loop)
            schedulers[ObjectIdentifier(loop)] = scheduler
        }
        return schedulers
    }

    /// The connections of an event loop to other nodes.
    private func links(on loop: any EventLoop) -> NodeLinks? {
        guard let placement = service.placement, let nodes else { return nil }
        return NodeLinks(placement, nodes, tls, service.limits, service.clock, on: loop)
    }

    /// Adds the handlers of a new connection from a client's address, on its event loop.
    private func add(
        _ channel: any Channel, _ client: SocketAddress?, _ desk: Desk,
        _ scheduler: LoopScheduler,
        _ connections: OpenConnections
    ) throws {
        let pipeline = channel.pipeline.syncOperations
        let address = client?.clientAddress ?? "unknown"
        do throws(ServiceFailure) {
            try service.counters.admitConnection(from: address, service.limits) {
                connections.makeRoom(for: $0)
            }
        } catch {
            guard connections.admitRefusal(channel) else { return channel.close(promise: nil) }
            if let tls { try pipeline.addHandlers([PlainTextHandler(), tls.handler()]) }
            return try pipeline.addHandler(RefusalHandler(RPCFailure(error)))
        }
        let counters = service.counters
        channel.closeFuture.whenComplete { _ in counters.connectionClosed(from: address) }
        if let tls { try pipeline.addHandlers([PlainTextHandler(), tls.handler()]) }
        let handler = ConnectionHandler(
            desk: desk, scheduler: scheduler,
            caller: Caller(address: address),
            isSecured: tls == nil)
        connections.add(handler, channel, from: address)
        if let nodes {
            try pipeline.addHandler(
                NodeGreeting(nodes) { input in
                    let nodeHandler = NodeServerHandler(
                        desk: desk, scheduler: scheduler, input: input)
                    handler.yield(to: nodeHandler)
                    let pipeline = channel.pipeline.syncOperations
                    try? pipeline.addHandler(nodeHandler)
                    pipeline.removeHandler(handler, promise: nil)
                })
        }
        try pipeline.addHandler(handler)
    }
}
