import Operations

/// A read that has been checked and planned, or a request that has failed.
struct ReadyRead: Sendable {
    let request: Request
    /// When its turn came, by the monotonic clock.
    let begin: Int64
    var preparation = Preparation.cheap
    /// Who asks; nil if it has failed before it was planned.
    var caller: Caller?
    /// How many objects it has found, if that is to be noted.
    var found: FoundObjects?
}

/// The answer to a read that had not begun officially.
struct EarlyAnswer: Sendable {
    let read: ReadyRead
    /// The number of the state that it saw, or of an earlier one.
    let state: UInt64
    /// Without the punctuation of its line.
    let bytes: [UInt8]
}
