import Synchronization

/// A clock that a test sets.
public final class FakeClock: Sendable {
    private let time: Atomic<Int64>

    public init(_ milliseconds: Int64) { time = Atomic(milliseconds) }

    public var milliseconds: Int64 {
        get { time.load(ordering: .sequentiallyConsistent) }
        set { time.store(newValue, ordering: .sequentiallyConsistent) }
    }
}
