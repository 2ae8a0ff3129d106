import Objects

/// The timeouts of one connection: for the handshake, for a line, for unread answers, and for
/// idleness. Checked periodically; pure.
///
///     if let end = timeouts.end(of: look, now: nanoseconds, limits) { … }
struct ConnectionTimeouts {
    /// The connection's present state.
    struct Check {
        /// The TLS handshake is complete and the client has logged in, as far as either is
        /// required.
        var hasArrived = true
        /// Lines received in total.
        var lines = 0
        var isWithinLine = false
        /// Some requests are unanswered.
        var isAtWork = false
        /// The client waits for notifications.
        var isWatching = false
        /// Answers in bytes that the client's side has not taken yet.
        var unsentBytes = 0
    }

    enum End: Equatable {
        case noHandshake, unendingLine, unread, idle
    }

    private var last = Check()
    private let begin: Int64
    private var idleSince: Int64
    private var lineSince: Int64
    private var unreadSince: Int64

    init(now: Int64) { (begin, idleSince, lineSince, unreadSince) = (now, now, now, now) }

    /// The timeout that ends the connection; nil when none has expired.
    ///
    /// - Parameter now: nanoseconds of the monotonic clock.
    mutating func end(of check: Check, now: Int64, _ limits: Limits) -> End? {
        let hasAsked = check.lines != last.lines || check.isAtWork
        // What has begun since the last look counts from this one: a timeout is late, never early.
        if hasAsked || !check.isWithinLine || !last.isWithinLine { lineSince = now }
        if hasAsked || check.isWatching || check.unsentBytes > 0 { idleSince = now }
        if last.unsentBytes == 0 || check.unsentBytes < last.unsentBytes { unreadSince = now }
        last = check
        func isOver(_ since: Int64, _ milliseconds: Int) -> Bool {
            now - since > Int64(milliseconds) * 1_000_000
        }
        if !check.hasArrived, isOver(begin, limits.handshakeMilliseconds) { return .noHandshake }
        if isOver(lineSince, limits.lineMilliseconds) { return .unendingLine }
        if isOver(unreadSince, limits.unreadMilliseconds) { return .unread }
        if isOver(idleSince, limits.idleMilliseconds) { return .idle }
        return nil
    }
}
