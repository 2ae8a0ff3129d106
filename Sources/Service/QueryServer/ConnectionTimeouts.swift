import Objects

/// For how long one connection may be as it is: without a handshake, within a line, with its answers
/// unread, idle. Looked at from time to time; pure.
///
///     if let end = timeouts.end(of: look, now: nanoseconds, limits) { … }
struct ConnectionTimeouts {
    /// What a connection is like now.
    struct Look {
        /// TLS is agreed on, and who has to log in has.
        var hasArrived = true
        /// Lines that have come, all in all.
        var lines = 0
        var isWithinLine = false
        /// Requests are unanswered.
        var isAtWork = false
        /// Answers the client's side has not taken yet.
        var unsentBytes = 0
    }

    enum End: Equatable {
        case noHandshake, unendingLine, unread, idle
    }

    private var last = Look()
    private let begin: Int64
    private var idleSince: Int64
    private var lineSince: Int64
    private var unreadSince: Int64

    init(now: Int64) { (begin, idleSince, lineSince, unreadSince) = (now, now, now, now) }

    /// Why the connection has to end, if it has.
    ///
    /// - Parameter now: nanoseconds of a clock that does not go back.
    mutating func end(of look: Look, now: Int64, _ limits: Limits) -> End? {
        let hasAsked = look.lines != last.lines || look.isAtWork
        if hasAsked || !look.isWithinLine { lineSince = now }
        if hasAsked || look.unsentBytes > 0 { idleSince = now }
        if look.unsentBytes == 0 || look.unsentBytes < last.unsentBytes { unreadSince = now }
        last = look
        func isOver(_ since: Int64, _ milliseconds: Int) -> Bool {
            now - since > Int64(milliseconds) * 1_000_000
        }
        if !look.hasArrived, isOver(begin, limits.handshakeMilliseconds) { return .noHandshake }
        if isOver(lineSince, limits.lineMilliseconds) { return .unendingLine }
        if isOver(unreadSince, limits.unreadMilliseconds) { return .unread }
        if isOver(idleSince, limits.idleMilliseconds) { return .idle }
        return nil
    }
}
