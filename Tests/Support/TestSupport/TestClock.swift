import Synchronization

/// A clock that a test sets. What its numbers are, the user says.
public final class TestClock: Sendable {
    private let time: Atomic<Int64>

    public init(_ start: Int64 = 1_700_000_000_000) { time = Atomic(start) }

    public var now: Int64 {
        get { time.load(ordering: .sequentiallyConsistent) }
        set { time.store(newValue, ordering: .sequentiallyConsistent) }
    }

    /// Moves it on, or back.
    public func advance(_ time: Int64) { self.time.add(time, ordering: .sequentiallyConsistent) }
}
