import NIOCore
import ServiceDesk

/// Precedes everything else on a connection from a proxy: takes its header, and then has the
/// connection begun, as one of the client.
final class ProxyHeaderHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    private let timeout: TimeAmount
    private let begin: (_ client: SocketAddress?) throws -> Void
    private var input = ByteBuffer()
    private var isDone = false
    private var deadline: Scheduled<Void>?

    private static let failure = RPCFailure.invalidRequest(
        "expected a header of the PROXY protocol, because --trust-proxy names this address")

    /// - Parameters:
    ///   - timeout: how long the header may take.
    ///   - begin: adds the connection's handlers, given where the client is; nil: where the
    ///     connection comes from.
    init(timeout: TimeAmount, begin: @escaping (_ client: SocketAddress?) throws -> Void) {
        (self.timeout, self.begin) = (timeout, begin)
    }

    func channelActive(context: ChannelHandlerContext) {
        let channel = context.channel
        deadline = context.eventLoop.scheduleTask(in: timeout) { channel.close(promise: nil) }
        context.read()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !isDone else { return context.fireChannelRead(data) }
        var bytes = unwrapInboundIn(data)
        input.writeBuffer(&bytes)
        do {
            guard let header = try ProxyHeader(from: &input) else { return }
            finish(context)
            try begin(header.client)
            context.fireChannelActive()
        } catch is ProxyHeader.Fault {
            finish(context)
            let refusal = RefusalHandler(Self.failure)
            try? context.pipeline.syncOperations.addHandler(refusal, position: .after(self))
        } catch {
            return context.close(promise: nil)
        }
        if input.readableBytes > 0 { context.fireChannelRead(wrapInboundOut(input)) }
        input = ByteBuffer()
        context.fireChannelReadComplete()
        context.pipeline.syncOperations.removeHandler(self, promise: nil)
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        if isDone { context.fireChannelReadComplete() } else { context.read() }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if !isDone, case ChannelEvent.inputClosed = event { return context.close(promise: nil) }
        context.fireUserInboundEventTriggered(event)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        if isDone { context.fireErrorCaught(error) } else { context.close(promise: nil) }
    }

    private func finish(_ context: ChannelHandlerContext) {
        isDone = true
        deadline?.cancel()
    }
}
