import JSONText
import NIOCore
import Objects
import WireProtocol

/// A connection too many: its first request is answered so, then it is closed.
///
/// Nothing is sent before something was asked, nobody is waited for longer than a moment, and what
/// the client goes on to send is read and dropped: closing on unread bytes would take the answer
/// with it.
final class RefusalHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let limits: Limits
    private var hasAnswered = false

    private static let patience = TimeAmount.seconds(2)

    init(limits: Limits) { self.limits = limits }

    func channelActive(context: ChannelHandlerContext) {
        let channel = context.channel
        context.eventLoop.scheduleTask(in: Self.patience) { channel.close(promise: nil) }
        context.read()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !hasAnswered else { return }
        hasAnswered = true
        let failure = ServiceFailure(
            .tooManyRequests,
            "the service has \(limits.connections) connections, as many as it takes")
        var writer = JSONWriter()
        AnswerWriter.failure(RPCFailure(failure), id: nil, to: &writer)
        writer.byte(UInt8(ascii: "\n"))
        context.writeAndFlush(
            wrapOutboundOut(context.channel.allocator.buffer(bytes: writer.bytes)), promise: nil)
        context.close(mode: .output, promise: nil)
    }

    func channelReadComplete(context: ChannelHandlerContext) { context.read() }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case ChannelEvent.inputClosed = event { context.close(promise: nil) }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.close(promise: nil)
    }
}
