import Backend

/// How long a query may take.
struct ReadBounds {
    let deadline: ContinuousClock.Instant
    /// What tells that nobody wants its answer any more.
    let stop: StopSignal?

    var isStopped: Bool { stop?.isStopped == true }

    /// Whether it has to end, with a failure.
    var areOver: Bool { isStopped || ContinuousClock.now > deadline }
}
