import Synchronization

/// How long the login of a session is valid, for everything that goes on under it: until its end, or
/// until it is ended before that.
public final class LoginTerm: Sendable {
    private let end: Int64
    private let hasEnded = Atomic(false)

    /// - Parameter end: milliseconds since 1970.
    public init(until end: Int64) { self.end = end }

    /// Ends it now.
    public func finish() { hasEnded.store(true, ordering: .relaxed) }

    /// - Parameter now: milliseconds since 1970.
    public func isOver(_ now: Int64) -> Bool { end <= now || hasEnded.load(ordering: .relaxed) }
}
