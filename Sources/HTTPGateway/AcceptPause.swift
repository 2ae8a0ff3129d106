import NIOCore

/// Pauses the accepting of connections when there are no descriptors or no memory for them, and makes
/// room for them where it can. The library would end the gateway, with a trap where connections
/// wait to be begun.
final class AcceptPause: ChannelInboundHandler {
    typealias InboundIn = any Channel

    private static let pause = TimeAmount.milliseconds(100)

    private let connections: HTTPConnections
    private var isPaused = false

    init(_ connections: HTTPConnections) { self.connections = connections }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        guard error is IOError else { return context.fireErrorCaught(error) }
        guard !isPaused else { return }
        connections.makeRoom()
        isPaused = true
        setAutoRead(false, of: context.channel)
        let channel = context.channel
        context.eventLoop.assumeIsolated().scheduleTask(in: Self.pause) { [self] in
            isPaused = false
            setAutoRead(true, of: channel)
        }
    }

    private func setAutoRead(_ value: Bool, of channel: any Channel) {
        // It fails for a listener that is closed, which accepts no more anyway.
        try? channel.syncOptions?.setOption(.autoRead, value: value)
    }
}
