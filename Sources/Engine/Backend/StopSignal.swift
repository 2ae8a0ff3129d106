import Synchronization

/// Tells work on another thread to end: its client is gone, or the service stops.
public final class StopSignal: Sendable {
    private let flag = Atomic(false)

    /// A signal that has not been given.
    public init() {}

    /// Whether the signal has been given; once true, it stays true.
    public var isStopped: Bool { flag.load(ordering: .relaxed) }

    /// Gives the signal, from any thread; the work ends when it next looks.
    public func stop() { flag.store(true, ordering: .relaxed) }
}
