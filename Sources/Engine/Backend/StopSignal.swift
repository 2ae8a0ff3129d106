import Synchronization

/// Tells work on another thread to end: its client is gone, or the service stops.
public final class StopSignal: Sendable {
    private let flag = Atomic(false)
    private let bodies = Mutex<[@Sendable () -> Void]>([])

    /// A signal that has not been given.
    public init() {}

    /// Whether the signal has been given; once true, it stays true.
    public var isStopped: Bool { flag.load(ordering: .relaxed) }

    /// Gives the signal, from any thread; the work ends when it next looks.
    public func stop() {
        flag.store(true, ordering: .relaxed)
        for body in takeBodies() { body() }
    }

    /// Calls `body` once, when the signal is given: on some thread, or at once.
    public func whenStopped(_ body: @escaping @Sendable () -> Void) {
        bodies.withLock { $0.append(body) }
        // It may have been given before anybody was seen to wait.
        if isStopped { for body in takeBodies() { body() } }
    }

    private func takeBodies() -> [@Sendable () -> Void] {
        bodies.withLock { bodies in
            defer { bodies = [] }
            return bodies
        }
    }
}
