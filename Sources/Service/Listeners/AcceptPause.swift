import NIOCore

/// Pauses the accepting of connections when there are no descriptors or no memory for them: the
/// listener stays ready to be read, and would be tried again and again.
///
/// Those who wait to be accepted stay in the kernel's queue meanwhile; ten times a second it is tried
/// again. No other handler sees the fault: a library that did not expect it would end, with a trap
/// where connections wait to be begun.
public final class AcceptPause: ChannelInboundHandler {
    /// A connection that has been accepted.
    public typealias InboundIn = any Channel

    private static let pause = TimeAmount.milliseconds(100)

    private let note: (any Error, _ isFirst: Bool) -> Void
    private var isPaused = false
    /// Nobody has been accepted since a fault was noted.
    private var isNoted = false

    /// - Parameter note: called when a pause begins; the first is the first since somebody was
    ///   accepted.
    public init(note: @escaping (any Error, _ isFirst: Bool) -> Void) { self.note = note }

    /// Passes an accepted connection on, and notes that accepting works again.
    public func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        isNoted = false
        context.fireChannelRead(data)
    }

    /// Keeps an I/O error and begins a pause, unless one has begun; passes other errors on.
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
        // It fails for a listener that is closed, which accepts no more anyway.
        try? channel.syncOptions?.setOption(.autoRead, value: value)
    }
}
