import HTTPTypes
import HummingbirdCore
import Listeners
import Logging
import NIOCore
import NIOHTTP1

/// The library's HTTP connection, counted in `HTTPConnections`, with the presence of its client, and
/// closed when its client asks for it.
struct CountedChannel: ServerChildChannel {
    let http: HTTP1Channel
    let connections: NIOLoopBoundBox<HTTPConnections>
    let tls: (@Sendable () -> any ChannelHandler)?
    let refusal: Refusal?

    struct Value: ServerChildChannelValue {
        let http: HTTP1Channel.Value
        let client: ClientPresence

        var channel: any Channel { http.channel }
    }

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Value> {
        let client = ClientPresence()
        let secured = channel.eventLoop.makeCompletedFuture {
            let pipeline = channel.pipeline.syncOperations
            try pipeline.addHandler(client)
            if let tls { try pipeline.addHandler(tls()) }
        }
        return secured.flatMap { http.setup(channel: channel, logger: logger) }
            .flatMapThrowing { value in
                let pipeline = channel.pipeline.syncOperations
                let decoder = try pipeline.handler(
                    type: ByteToMessageHandler<HTTPRequestDecoder>.self)
                try pipeline.addHandler(
                    PersistenceHandler(connections.value, refusal), position: .after(decoder))
                connections.value.admit(channel)
                return Value(http: value, client: client)
            }
    }

    func handle(value: Value, logger: Logger) async {
        await ClientPresence.$current.withValue(value.client) {
            await http.handle(value: value.http, logger: logger)
        }
    }
}

/// What is wrong with a request that cannot be read.
package enum RequestFault: Sendable {
    /// Its head is longer than `HTTPConnectionLimits.headBytes`.
    case headTooLong
    /// It is no HTTP.
    case malformed

    init?(_ error: any Error) {
        guard let error = error as? HTTPParserError else { return nil }
        self = error == .headerOverflow ? .headTooLong : .malformed
    }
}

/// Makes the answer to a request that cannot be read.
package typealias Refusal = @Sendable (RequestFault) -> (head: HTTPResponse, body: [UInt8])

/// Keeps a connection open or closes it after an answer, according to the request's HTTP version
/// and `Connection` header (RFC 9112, 9.3). Gives the library's empty answer to what cannot be read
/// another head and a body.
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
    private let refusal: Refusal?
    private var fault: RequestFault?

    init(_ connections: HTTPConnections, _ refusal: Refusal?) {
        (self.connections, self.refusal) = (connections, refusal)
    }

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
        case .head where requests.isEmpty && fault != nil && refusal != nil:
            refuse(fault!, refusal!, context, promise)
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

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        fault = fault ?? RequestFault(error)
        context.fireErrorCaught(error)
    }

    private func refuse(
        _ fault: RequestFault, _ refusal: Refusal, _ context: ChannelHandlerContext,
        _ promise: EventLoopPromise<Void>?
    ) {
        let answer = refusal(fault)
        var headers = HTTPHeaders(answer.head.headerFields.map { ($0.name.rawName, $0.value) })
        headers.replaceOrAdd(name: "Connection", value: "close")
        headers.replaceOrAdd(name: "Content-Length", value: String(answer.body.count))
        let status = HTTPResponseStatus(statusCode: answer.head.status.code)
        let head = HTTPResponseHead(version: .http1_1, status: status, headers: headers)
        context.write(wrapOutboundOut(.head(head)), promise: promise)
        let body = ByteBuffer(bytes: answer.body)
        context.write(wrapOutboundOut(.body(.byteBuffer(body))), promise: nil)
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
