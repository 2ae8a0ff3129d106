import Synchronization

/// Tells work on another thread to end: its client is gone, or the service stops.
public final class StopSignal: Sendable {
    private let flag = Atomic(false)

    public init() {}

    public var isStopped: Bool { flag.load(ordering: .relaxed) }

    public func stop() { flag.store(true, ordering: .relaxed) }
}
