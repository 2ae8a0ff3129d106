import JSONText
import NIOCore
import Objects
import WireProtocol

/// A connection that is not wanted: its first request is answered so, then it is closed.
///
/// Nothing is sent before something was asked, nobody is waited for longer than a moment, and what
/// the client goes on to send is read and dropped: closing on unread bytes would take the answer
/// with it.
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

/// Stands in front of TLS: a client that speaks without it is told so, in words it can read.
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

/// The little of TLS that can be told from its bytes.
enum TLSRecord {
    static let handshake: UInt8 = 0x16

    /// Whether this is how a client of TLS begins; no JSON does.
    static func beginsHandshake(_ bytes: UnsafeRawBufferPointer) -> Bool {
        bytes.count >= 2 && bytes[0] == handshake && bytes[1] == 0x03
    }

    /// A fatal alert, "handshake failure", by which a client of TLS ends with a clear error.
    static let refusal: [UInt8] = [0x15, 0x03, 0x01, 0x00, 0x02, 0x02, 0x28]
}
