import NIOCore

/// Gives a connection's bytes to the decoder of requests, and only while no request waits for its
/// answer. Meanwhile no more is read than has come already.
///
/// It gives them in small pieces: decoded requests take many times the memory of their bytes, and
/// those behind the first of a piece have to wait.
final class RequestIntake: ChannelDuplexHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer
    typealias OutboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let connection: HTTPConnection
    private var context: ChannelHandlerContext?
    private var waiting = ByteBuffer()
    /// The client has ended its side; the decoder is told when it has got everything.
    private var hasEnded = false
    private var hasToRead = false
    private var isFeeding = false
    /// Whether the decoder takes more.
    private var isOpen = true
    /// What is left of the present body, if its length is known.
    private var bodyBytes = 0
    /// Whether what comes is of no interest any more.
    private var isDropping = false

    private static let pieceBytes = 1_024

    init(_ connection: HTTPConnection) { self.connection = connection }

    // MARK: What is done with requests

    /// A body follows, which is no head: it may come in larger pieces.
    func expectBody(_ bytes: Int) { bodyBytes = bytes }

    /// Keeps back what comes.
    func pause() { isOpen = false }

    /// Drops what comes.
    func drop() {
        isDropping = true
        waiting = ByteBuffer()
    }

    /// Goes on.
    func resume() {
        isOpen = true
        guard !isFeeding, let context else { return }
        feed(context)
        context.fireChannelReadComplete()
        guard isDone else { return }
        if hasEnded {
            hasEnded = false
            context.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
        }
        if hasToRead {
            hasToRead = false
            context.read()
        }
    }

    /// Whether everything that has come has been given to the decoder, which takes more.
    private var isDone: Bool { isOpen && waiting.readableBytes == 0 }

    private func feed(_ context: ChannelHandlerContext) {
        isFeeding = true
        while isOpen, waiting.readableBytes > 0 {
            let most = bodyBytes > 0 ? bodyBytes : Self.pieceBytes
            let piece = waiting.readSlice(length: min(most, waiting.readableBytes))!
            bodyBytes = max(0, bodyBytes - piece.readableBytes)
            context.fireChannelRead(wrapInboundOut(piece))
        }
        isFeeding = false
        if waiting.readableBytes == 0 { waiting = ByteBuffer() }
        connection.noteWaiting(waiting.readableBytes)
    }

    // MARK: Events of the channel

    func handlerAdded(context: ChannelHandlerContext) { self.context = context }

    func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !isDropping else { return }
        var bytes = unwrapInboundIn(data)
        if waiting.readableBytes == 0 { waiting = bytes } else { waiting.writeBuffer(&bytes) }
        if isFeeding { return }
        feed(context)
    }

    func read(context: ChannelHandlerContext) {
        if isDone || isDropping { context.read() } else { hasToRead = true }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case ChannelEvent.inputClosed = event, !isDone, !isDropping {
            hasEnded = true
        } else {
            context.fireUserInboundEventTriggered(event)
        }
    }
}
