import NIOCore

/// Pauses accepting when descriptors or memory run out. Without the pause the listener would stay
/// readable and retry without end.
///
/// Clients wait in the kernel's queue meanwhile; accepting is retried ten times a second. No other
/// handler sees the error. A library that does not expect it would stop, and trap if connections
/// have been accepted but not begun.
public final class AcceptPause: ChannelInboundHandler {
    /// An accepted connection.
    public typealias InboundIn = any Channel

    private static let pause = TimeAmount.milliseconds(100)

    private let note: (any Error, _ isFirst: Bool) -> Void
    private var isPaused = false
    /// Nothing has been accepted since the last noted error.
    private var isNoted = false

    /// - Parameter note: called when a pause begins. `isFirst` marks the first pause since a
    ///   connection was accepted.
    public init(note: @escaping (any Error, _ isFirst: Bool) -> Void) { self.note = note }

    /// Passes an accepted connection on, and notes that accepting works again.
    public func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        isNoted = false
        context.fireChannelRead(data)
    }

    /// Handles an I/O error: begins a pause, unless one has begun. Passes other errors on.
    public func errorCaught(context: ChannelHandlerContext, error: any Error) {
        guard error is IOError else { return context.fireErrorCaught(error) }
        guard !isPaused else { return }
        note(error, !isNoted)
        isNoted = true
        isPaused = true
        setAutoRead(false, of: context.channel)
        let channel = context.channel
        context.eventLoop.assumeIsolated().scheduleTask(in: Self.pause) { [self] in
            isPaused = false
            setAutoRead(true, of: channel)
        }
    }

    private func setAutoRead(_ value: Bool, of channel: any Channel) {
        // This fails on a closed listener, which accepts nothing anyway.
        try? channel.syncOptions?.setOption(.autoRead, value: value)
    }
}
