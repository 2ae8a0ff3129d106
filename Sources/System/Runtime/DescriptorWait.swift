import Glibc

/// poll(2) has failed.
public struct PollFailure: Error {
    /// The value of `errno`.
    public let code: Int32
}

/// Waits until a descriptor is ready.
///
/// - Parameters:
///   - events: of poll(2), for example `POLLIN`.
///   - interrupt: ends the wait.
/// - Returns: false if the descriptor is not ready at the deadline, or when the wait is interrupted.
public func isReady(
    _ descriptor: Int32, for events: Int32, until deadline: Deadline,
    unless interrupt: Interrupt? = nil
) throws(PollFailure) -> Bool {
    while true {
        // A negative descriptor is passed over.
        var watched = (
            pollfd(fd: descriptor, events: Int16(events), revents: 0),
            pollfd(fd: interrupt?.descriptor ?? -1, events: Int16(POLLIN), revents: 0)
        )
        let left = deadline.timeLeft / .milliseconds(1)
        let ready = withUnsafeMutableBytes(of: &watched) {
            poll(
                $0.assumingMemoryBound(to: pollfd.self).baseAddress, 2,
                Int32(min(left.rounded(.up), 1e6)))
        }
        if ready > 0 { return watched.1.revents == 0 }
        if ready < 0, errno != EINTR { throw PollFailure(code: errno) }
        if deadline.isOver { return false }
    }
}
