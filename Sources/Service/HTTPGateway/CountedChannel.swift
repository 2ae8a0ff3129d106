import HummingbirdCore
import Logging
import NIOCore
import NIOHTTP1

/// The library's HTTP connection, counted in `HTTPConnections` and closed when its client asks for
/// it.
struct CountedChannel: ServerChildChannel {
    let http: HTTP1Channel
    let connections: NIOLoopBoundBox<HTTPConnections>
    let tls: (@Sendable () -> any ChannelHandler)?

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<HTTP1Channel.Value> {
        let secured = channel.eventLoop.makeCompletedFuture {
            if let tls { try channel.pipeline.syncOperations.addHandler(tls()) }
        }
        return secured.flatMap { http.setup(channel: channel, logger: logger) }
            .flatMapThrowing { value in
                let pipeline = channel.pipeline.syncOperations
                let decoder = try pipeline.handler(
                    type: ByteToMessageHandler<HTTPRequestDecoder>.self)
                try pipeline.addHandler(
                    PersistenceHandler(connections.value), position: .after(decoder))
                connections.value.admit(channel)
                return value
            }
    }

    func handle(value: HTTP1Channel.Value, logger: Logger) async {
        await http.handle(value: value, logger: logger)
    }
}

/// Keeps a connection open or closes it after an answer, according to the request's HTTP version
/// and `Connection` header (RFC 9112, 9.3).
private final class PersistenceHandler: ChannelDuplexHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart
    typealias OutboundIn = HTTPServerResponsePart
    typealias OutboundOut = HTTPServerResponsePart

    private let connections: HTTPConnections
    /// Requests without a complete answer.
    private var requests: CircularBuffer<HTTPRequestHead> = []
    /// Whether the latest request is the last one.
    private var hasLast = false
    private var isDropping = false

    init(_ connections: HTTPConnections) { self.connections = connections }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if case .head(let head) = unwrapInboundIn(data) {
            // Ignore everything after the last request.
            isDropping = hasLast
            guard !hasLast else { return }
            hasLast = !head.isKeepAlive
            requests.append(head)
            connections.noteRequest(context.channel)
        }
        if !isDropping { context.fireChannelRead(data) }
    }

    func write(
        context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?
    ) {
        switch unwrapOutboundIn(data) {
        case .head(var head):
            let goesOn = requests.first?.isKeepAlive ?? false
            // HTTP/1.0 closes by default, so an open connection must be confirmed.
            if !goesOn || requests.first?.version == .http1_0 {
                head.headers.replaceOrAdd(
                    name: "Connection", value: goesOn ? "keep-alive" : "close")
            }
            context.write(wrapOutboundOut(.head(head)), promise: promise)
        case .body:
            let sent = promise ?? context.eventLoop.makePromise()
            let channel = context.channel
            sent.futureResult.assumeIsolated().whenSuccess { [self] in
                connections.noteProgress(channel)
            }
            context.write(data, promise: sent)
        case .end:
            let goesOn = requests.popFirst()?.isKeepAlive ?? false
            let sent = promise ?? context.eventLoop.makePromise()
            sent.futureResult.assumeIsolated().whenComplete { [self] _ in
                end(goesOn: goesOn, context)
            }
            context.write(data, promise: sent)
            if !goesOn { context.flush() }
        }
    }

    /// Called when an answer has been sent.
    private func end(goesOn: Bool, _ context: ChannelHandlerContext) {
        connections.noteAnswer(
            context.channel, isLast: requests.isEmpty || !goesOn, goesOn: goesOn)
        if !goesOn { context.close(mode: .output, promise: nil) }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if event is ChannelShouldQuiesceEvent { connections.noteStop(context.channel) }
        context.fireUserInboundEventTriggered(event)
    }
}
