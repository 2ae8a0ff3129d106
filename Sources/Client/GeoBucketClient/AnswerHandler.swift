import DequeModule
import NIOCore
import PlainJSON
import Wire

/// Takes the notifications of one watch.
protocol NotificationReceiver: AnyObject, Sendable {
    /// On the event loop of the connection.
    func receive(_ method: String, _ params: JSONView)
    /// The connection has ended: nothing comes any more.
    func connectionEnded()
}

/// Gives each arriving answer to the request that has waited longest, and each notification to its
/// watch. A request that no longer waits stays in the queue, because its answer will still come.
///
/// A notification is a line without `id` and with `method`.
///
/// `@unchecked Sendable`: every member is used only on the channel's event loop.
final class AnswerHandler: ChannelInboundHandler, @unchecked Sendable {
    typealias InboundIn = ByteBuffer

    private struct Request {
        let promise: EventLoopPromise<[UInt8]>
        /// Runs with the answer, before anything behind it is read, also if nobody waits for it.
        let onAnswer: (([UInt8]) -> Void)?
    }

    private var waiting: Deque<Request> = []
    private var framer = LineFramer(limit: 1 << 30)
    private var isOver = false
    /// Counts arrivals, whatever arrived.
    private(set) var arrivals = 0
    /// By the name of the watch on this connection.
    private var receivers: [String: any NotificationReceiver] = [:]

    func expect(_ promise: EventLoopPromise<[UInt8]>, onAnswer: (([UInt8]) -> Void)? = nil) {
        if isOver {
            promise.fail(ClientFailure.disconnected)
        } else {
            waiting.append(Request(promise: promise, onAnswer: onAnswer))
        }
    }

    /// Gives the notifications of a watch to a receiver, or to nobody.
    func setReceiver(_ receiver: (any NotificationReceiver)?, of watch: String) {
        receivers[watch] = receiver
        if isOver { receiver?.connectionEnded() }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        unwrapInboundIn(data).withUnsafeReadableBytes { framer.append($0) }
        arrivals += 1
        while let event = framer.next() {
            switch event {
            case .line(let range): take(Array(framer.buffer[range]))
            case .tooLong: return context.close(promise: nil)
            }
        }
    }

    private func take(_ line: [UInt8]) {
        guard !Self.beginsAsAnswer(line), notify(line) else { return answer(line) }
    }

    private func answer(_ line: [UInt8]) {
        guard let request = waiting.popFirst() else { return }
        request.onAnswer?(line)
        request.promise.succeed(line)
    }

    /// How the service begins an answer, and never a notification.
    private static let answerHead = Array(#"{"jsonrpc":"2.0","id":"#.utf8)

    private static func beginsAsAnswer(_ line: [UInt8]) -> Bool { line.starts(with: answerHead) }

    /// Passes a notification on; false for a line that is none.
    private func notify(_ line: [UInt8]) -> Bool {
        let isNotification = try? PlainJSONParser.reading(line) { message in
            guard message["id"] == nil, let method = message["method"]?.string else {
                return false
            }
            if let params = message["params"], let watch = params["watch"]?.string {
                let receiver = receivers[watch]
                receiver?.receive(method, params)
            }
            return true
        }
        return isNotification ?? false
    }

    func channelInactive(context: ChannelHandlerContext) {
        isOver = true
        while let request = waiting.popFirst() {
            request.promise.fail(ClientFailure.disconnected)
        }
        for receiver in receivers.values { receiver.connectionEnded() }
        receivers = [:]
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.close(promise: nil)
    }
}
