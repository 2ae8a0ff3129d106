import JSONText
import NIOCore
import Objects
import WireProtocol

/// A connection too many: its first request is answered so, then it is closed.
///
/// Nothing is sent before something was asked, and nobody is waited for longer than a moment.
final class RefusalHandler: ChannelInboundHandler, Sendable {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let limits: Limits

    private static let patience = TimeAmount.seconds(2)

    init(limits: Limits) { self.limits = limits }

    func channelActive(context: ChannelHandlerContext) {
        let channel = context.channel
        context.eventLoop.scheduleTask(in: Self.patience) { channel.close(promise: nil) }
        context.read()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let failure = ServiceFailure(
            .tooManyRequests,
            "the service has \(limits.connections) connections, as many as it takes")
        var writer = JSONWriter()
        AnswerWriter.failure(RPCFailure(failure), id: nil, to: &writer)
        writer.byte(UInt8(ascii: "\n"))
        context.writeAndFlush(
            wrapOutboundOut(context.channel.allocator.buffer(bytes: writer.bytes)), promise: nil)
        context.close(promise: nil)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.close(promise: nil)
    }
}
