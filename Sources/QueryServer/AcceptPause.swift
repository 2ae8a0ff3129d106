import Logging
import NIOCore

/// Pauses the accepting of connections when there are no descriptors or no memory for them: the
/// listener stays ready to be read, and would be tried again and again.
///
/// Those who wait to be accepted stay in the kernel's queue meanwhile.
final class AcceptPause: ChannelInboundHandler {
    typealias InboundIn = any Channel

    private static let pause = TimeAmount.milliseconds(100)

    private let logger: Logger
    private var isPaused = false
    /// The fault has been told, and nobody has been accepted since.
    private var isTold = false

    init(logger: Logger) { self.logger = logger }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        isTold = false
        context.fireChannelRead(data)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        guard error is IOError else { return context.fireErrorCaught(error) }
        if !isTold {
            isTold = true
            logger.warning(
                "connections cannot be accepted; tried again ten times a second",
                metadata: ["reason": "\(error)"])
        }
        guard !isPaused else { return }
        isPaused = true
        setAutoRead(false, of: context.channel)
        context.eventLoop.assumeIsolated().scheduleTask(in: Self.pause) { [self] in
            isPaused = false
            setAutoRead(true, of: context.channel)
        }
    }

    private func setAutoRead(_ value: Bool, of channel: any Channel) {
        // It fails for a listener that is closed, which accepts no more anyway.
        try? channel.syncOptions?.setOption(.autoRead, value: value)
    }
}
