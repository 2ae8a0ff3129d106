import DequeModule
import NIOCore
import Wire

/// Gives each arriving line to the request that has waited longest. A request that no longer waits
/// stays in the queue, because its answer will still come.
///
/// `@unchecked Sendable`: every member is used only on the channel's event loop.
final class AnswerHandler: ChannelInboundHandler, @unchecked Sendable {
    typealias InboundIn = ByteBuffer

    private var waiting: Deque<EventLoopPromise<[UInt8]>> = []
    private var framer = LineFramer(limit: 1 << 30)
    private var isOver = false
    /// Counts arrivals, whatever arrived.
    private(set) var arrivals = 0

    func expect(_ promise: EventLoopPromise<[UInt8]>) {
        if isOver {
            promise.fail(ClientFailure.disconnected)
        } else {
            waiting.append(promise)
        }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        unwrapInboundIn(data).withUnsafeReadableBytes { framer.append($0) }
        arrivals += 1
        while let event = framer.next() {
            switch event {
            case .line(let range): waiting.popFirst()?.succeed(Array(framer.buffer[range]))
            case .tooLong: return context.close(promise: nil)
            }
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
