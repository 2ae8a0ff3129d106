import Operations

/// A read that has been checked and planned, or a request that has failed.
struct ReadyRead: Sendable {
    let request: Request
    /// When its turn came, by the monotonic clock.
    let begin: Int64
    var preparation = Preparation.cheap
}
