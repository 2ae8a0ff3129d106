import Synchronization

/// Tells work on another thread to end, because its client is gone or the service stops.
public final class StopSignal: Sendable {
    private let flag = Atomic(false)
    private let cancellation = Atomic(false)
    private let bodies = Mutex<[@Sendable () -> Void]>([])

    /// A signal that has not been given yet.
    public init() {}

    /// Whether the signal has been given. It never changes back to false.
    public var isStopped: Bool { flag.load(ordering: .relaxed) }

    /// Gives the signal; any thread may do so. The work ends at its next check.
    public func stop() {
        flag.store(true, ordering: .relaxed)
        for body in takeBodies() { body() }
    }

    /// Gives the signal for somebody whose answer still has to come: the client is there.
    public func cancel() {
        cancellation.store(true, ordering: .relaxed)
        stop()
    }

    /// Whether the work was cancelled.
    public var isCancelled: Bool { cancellation.load(ordering: .relaxed) }

    /// Calls `body` once when the signal is given, on any thread; at once if it has already been
    /// given.
    public func whenStopped(_ body: @escaping @Sendable () -> Void) {
        bodies.withLock { $0.append(body) }
        // The signal may have been given before `body` was added.
        if isStopped { for body in takeBodies() { body() } }
    }

    private func takeBodies() -> [@Sendable () -> Void] {
        bodies.withLock { bodies in
            defer { bodies = [] }
            return bodies
        }
    }
}
