import Synchronization

/// A clock that a test sets, milliseconds since 1970.
public final class TestClock: Sendable {
    private let time: Atomic<Int64>

    public init(_ start: Int64 = 1_700_000_000_000) { time = Atomic(start) }

    public var now: Int64 { time.load(ordering: .relaxed) }

    /// Moves it on, or back.
    public func advance(_ milliseconds: Int64) { time.add(milliseconds, ordering: .relaxed) }
}
