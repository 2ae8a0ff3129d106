import HTTPTypes
import HummingbirdCore
import Listeners
import Logging
import NIOCore
import ServiceDesk
import ServiceLifecycle

/// Listens for HTTP connections on event loops of its own, and has their requests answered.
package struct HTTPListener: Sendable {
    /// Answers one request.
    package typealias Responder =
        @Sendable (Request, consuming ResponseWriter, HTTPConnection) async throws -> Void

    private let host: String
    private let port: Int
    private let limits: HTTPConnectionLimits
    private let memory: ConnectionMemory
    private let tls: (@Sendable () -> any ChannelHandler)?
    private let listening: @Sendable (_ host: String, _ port: Int) -> Void
    /// Never shut down: the library's connections still submit tasks after it has reported them
    /// closed.
    private let loops: any EventLoopGroup
    /// One of the event loops.
    package let loop: any EventLoop

    /// - Parameters:
    ///   - port: 0 takes a free one.
    ///   - threads: the number of event loops.
    ///   - memory: what the connections of all ports hold.
    ///   - tls: makes the handler of one connection's TLS; nil for connections without.
    ///   - listening: called with the listening address once connections are accepted.
    package init(
        host: String, port: Int, limits: HTTPConnectionLimits, threads: Int,
        memory: ConnectionMemory,
        tls: (@Sendable () -> any ChannelHandler)? = nil,
        listening: @escaping @Sendable (_ host: String, _ port: Int) -> Void
    ) {
        (self.host, self.port, self.limits, self.tls) = (host, port, limits, tls)
        (self.memory, self.listening) = (memory, listening)
        loops = eventLoops(threads)
        loop = loops.next()
    }

    /// Serves until a graceful stop is requested. Cancellation causes a graceful stop too: when the
    /// library itself is cancelled, it drops connections that it has accepted but not begun to
    /// serve, which traps.
    ///
    /// - Parameters:
    ///   - refusal: answers a request that cannot be read; nil answers it with status 400 alone.
    ///   - responder: answers one request.
    /// - Throws: when it cannot listen on the address.
    package func run(
        refusal: Refusal? = nil, _ responder: @escaping Responder
    ) async throws {
        let silent = Logger(label: "http") { _ in SwiftLogNoOpLogHandler() }
        let serving = Serving(
            listener: self, refusal: refusal, responder: responder, logger: silent)
        let group = ServiceGroup(services: [serving], logger: silent)
        let running = Task { try await group.run() }
        let stop: @Sendable () -> Void = { Task { await group.triggerGracefulShutdown() } }
        try await withTaskCancellationHandler {
            try await withGracefulShutdownHandler {
                try await running.value
            } onGracefulShutdown: {
                stop()
            }
        } onCancel: {
            stop()
        }
    }

    /// The server, as a task of its own.
    private struct Serving: ServiceLifecycle.Service {
        let listener: HTTPListener
        let refusal: Refusal?
        let responder: Responder
        /// Silent: fatal errors are thrown, and the library's other messages concern only itself.
        let logger: Logger

        func run() async throws { try await listener.serve(refusal, responder, logger) }
    }

    private func serve(
        _ refusal: Refusal?, _ responder: @escaping Responder, _ logger: Logger
    ) async throws {
        let (host, port, listening) = (host, port, listening)
        let connections = HTTPConnections(limits: limits, memory: memory, on: loop)
        let http = HTTP1Channel(
            responder: { request, writer, _ in
                guard let connection = HTTPConnection.current else {
                    preconditionFailure("a request comes on a connection")
                }
                try await responder(request, writer, connection)
            },
            configuration: .init(
                httpDecoderConfiguration: .init(
                    maxHeaderFieldSize: limits.headBytes, maxHeaderListSize: limits.headBytes)))
        let server = Server(
            childChannelSetup: CountedChannel(
                http: http, limits: limits, connections: connections, tls: tls,
                refusal: refusal),
            configuration: ServerConfiguration(address: .hostname(host, port: port)),
            onServerRunning: { channel in
                try? await channel.eventLoop.submit {
                    let pause = AcceptPause { _, _ in connections.makeRoom() }
                    try channel.pipeline.syncOperations.addHandler(pause, position: .first)
                }.get()
                let address = channel.localAddress
                listening(address?.ipAddress ?? host, address?.port ?? port)
            },
            eventLoopGroup: loops, logger: logger)
        try await server.run()
    }
}
