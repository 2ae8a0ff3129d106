import DequeModule
import NIOCore
import WireProtocol

/// Hands each line that arrives to whoever has waited longest. One that no longer waits keeps its
/// place, since its answer will come.
///
/// `@unchecked Sendable`: every member is touched on the channel's event loop only.
final class AnswerHandler: ChannelInboundHandler, @unchecked Sendable {
    typealias InboundIn = ByteBuffer

    private var waiting: Deque<EventLoopPromise<[UInt8]>> = []
    private var framer = LineFramer(limit: 1 << 30)
    private var isOver = false
    private(set) var linesReceived = 0

    func expect(_ promise: EventLoopPromise<[UInt8]>) {
        if isOver {
            promise.fail(ClientFailure.disconnected)
        } else {
            waiting.append(promise)
        }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        unwrapInboundIn(data).withUnsafeReadableBytes { framer.append($0) }
        while case .line(let range) = framer.next() {
            linesReceived += 1
            waiting.popFirst()?.succeed(Array(framer.buffer[range]))
        }
    }

    func channelInactive(context: ChannelHandlerContext) {
        isOver = true
        while let promise = waiting.popFirst() { promise.fail(ClientFailure.disconnected) }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.close(promise: nil)
    }
}
