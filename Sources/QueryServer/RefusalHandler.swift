import JSONText
import NIOCore
import Objects
import WireProtocol

/// A connection too many: told so, and closed.
final class RefusalHandler: ChannelInboundHandler, Sendable {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let limit: Int

    init(limit: Int) { self.limit = limit }

    func channelActive(context: ChannelHandlerContext) {
        let failure = ServiceFailure(
            .tooManyRequests, "the service has \(limit) connections, as many as it takes")
        var writer = JSONWriter()
        AnswerWriter.failure(RPCFailure(failure), id: nil, to: &writer)
        writer.byte(UInt8(ascii: "\n"))
        context.writeAndFlush(
            wrapOutboundOut(context.channel.allocator.buffer(bytes: writer.bytes)), promise: nil)
        context.close(promise: nil)
    }
}
