import NIOCore
import Objects
import WireProtocol

/// What is looked at from time to time: whether a connection takes too long over something, and how
/// much it holds.
extension SessionHandler {
    /// What the connection holds of bytes, as of the last look as far as unsent answers go.
    var heldBytes: Int { isShed ? 0 : conversation.heldBytes + unsentBytes }

    /// Ends the connection when it has been as it is for too long.
    func look(now: Int64) {
        guard let context else { return }
        if mayHaveUnsent {
            let option = ChannelOptions.Types.BufferedWritableBytesOption()
            unsentBytes = (try? context.channel.syncOptions?.getOption(option)) ?? 0
            mayHaveUnsent = unsentBytes > 0
        }
        if !hasArrived {
            hasArrived = isSecured && (!dispatcher.service.requiresLogin || caller.isLoggedIn)
        }
        let look = Patience.Look(
            hasArrived: hasArrived, lines: conversation.linesTaken,
            isWithinLine: conversation.isWithinLine, isAtWork: !conversation.isDone,
            unsentBytes: unsentBytes)
        switch patience.end(of: look, now: now, limits) {
        case nil: break
        case .idle: endInput()
        case .unendingLine: end(context, .lineTooSlow(limit: limits.lineMilliseconds))
        case .noHandshake, .unread: context.close(promise: nil)
        }
    }

    /// Ends the connection, for it holds more than all others while all together hold too much.
    func shed() {
        isShed = true
        guard let context else { return }
        let failure = ServiceFailure(
            .tooManyRequests, "the service holds too much for all its connections")
        end(context, RPCFailure(failure))
    }
}
