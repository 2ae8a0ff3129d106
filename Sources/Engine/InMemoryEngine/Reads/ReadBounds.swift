import Backend

/// The limits of a query's run.
struct ReadBounds {
    let deadline: ContinuousClock.Instant
    /// Signals that the answer is no longer wanted.
    let stop: StopSignal?

    var isStopped: Bool { stop?.isStopped == true }

    /// Whether the query has to end with a failure.
    var areOver: Bool { isStopped || ContinuousClock.now > deadline }
}
