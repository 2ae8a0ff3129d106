import BackendContract
import Runtime

/// The limits of a query's run.
struct ReadBounds {
    /// Nanoseconds of the monotonic clock.
    let deadline: Int64
    /// Signals that the answer is no longer wanted.
    let stop: StopSignal?

    var isStopped: Bool { stop?.isStopped == true }

    /// Whether the time is over.
    var isLate: Bool { monotonicNanoseconds() > deadline }

    /// Whether the query has to end with a failure.
    var areOver: Bool { isStopped || isLate }
}
