import BackendContract
import Runtime

/// The limits of a query's run.
struct ReadBounds {
    let deadline: Deadline
    /// Signals that the answer is no longer wanted.
    let stop: StopSignal?

    var isStopped: Bool { stop?.isStopped == true }

    /// Whether the time is over.
    var isLate: Bool { deadline.isOver }

    /// Whether the query has to end with a failure.
    var areOver: Bool { isStopped || isLate }
}
