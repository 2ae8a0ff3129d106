import JSONText
import NIOCore
import Objects
import ServiceDesk

/// Refuses a connection: answers its first request with the failure and closes.
///
/// It sends nothing before the client asks, and closes after two seconds at the latest. Further
/// input is read and dropped: closing with unread bytes would discard the answer.
final class RefusalHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let failure: RPCFailure
    private var hasAnswered = false

    private static let timeouts = TimeAmount.seconds(2)

    init(_ failure: RPCFailure) { self.failure = failure }

    func channelActive(context: ChannelHandlerContext) { begin(context) }

    func handlerAdded(context: ChannelHandlerContext) {
        if context.channel.isActive { begin(context) }
    }

    private func begin(_ context: ChannelHandlerContext) {
        let channel = context.channel
        context.eventLoop.scheduleTask(in: Self.timeouts) { channel.close(promise: nil) }
        context.read()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !hasAnswered else { return }
        hasAnswered = true
        var writer = JSONWriter()
        AnswerWriter.failure(failure, id: nil, to: &writer)
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

/// Precedes TLS in the pipeline: a client that does not speak TLS gets an error in plain text.
final class PlainTextHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer

    private static let failure = RPCFailure(
        -32600, "INVALID_REQUEST", "this port speaks TLS; connect with it")

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let pipeline = context.pipeline.syncOperations
        let bytes = unwrapInboundIn(data)
        if bytes.getInteger(at: bytes.readerIndex, as: UInt8.self) != TLSRecord.handshake {
            do {
                try pipeline.addHandler(RefusalHandler(Self.failure), position: .after(self))
            } catch {
                return context.close(promise: nil)
            }
        }
        context.fireChannelRead(data)
        pipeline.removeHandler(context: context, promise: nil)
    }
}

/// The part of the TLS record layer that is recognised here.
enum TLSRecord {
    static let handshake: UInt8 = 0x16

    /// Whether a TLS client hello begins with these bytes; no JSON text does.
    static func beginsHandshake(_ bytes: UnsafeRawBufferPointer) -> Bool {
        bytes.count >= 2 && bytes[0] == handshake && bytes[1] == 0x03
    }

    /// A fatal alert, "handshake failure", with which TLS clients report a clear error.
    static let refusal: [UInt8] = [0x15, 0x03, 0x01, 0x00, 0x02, 0x02, 0x28]
}
