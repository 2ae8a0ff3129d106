import Histogram

/// The outcome of requests: the time from when each was due to its end, and which failed.
///
/// Every due request is counted once, however it ended. An abandoned one counts with the time that
/// it had waited by then.
struct Tally: Sendable {
    /// Nanoseconds to three significant digits.
    private(set) var latencies = Histogram<UInt32>(numberOfSignificantValueDigits: .three)
    private var failedLatencies = Histogram<UInt32>(numberOfSignificantValueDigits: .three)
    /// Failures by the service's error codes and those of `OwnError`.
    private(set) var errors: [String: Int] = [:]

    var count: Int { Int(latencies.totalCount) }
    var failures: Int { Int(failedLatencies.totalCount) }

    mutating func record(_ nanoseconds: UInt64, error: String?) {
        latencies.record(nanoseconds)
        guard let error else { return }
        failedLatencies.record(nanoseconds)
        errors[error, default: 0] += 1
    }

    mutating func add(_ other: Tally) {
        latencies.add(other.latencies)
        failedLatencies.add(other.failedLatencies)
        errors.merge(other.errors, uniquingKeysWith: +)
    }

    /// How many took longer or failed.
    func slowerOrFailed(than nanoseconds: UInt64) -> Int {
        count - Int(latencies.count(within: 0...nanoseconds))
            + Int(failedLatencies.count(within: 0...nanoseconds))
    }
}

/// Failures that the service did not report.
enum OwnError {
    /// The connection ended before the answer came.
    static let connectionLost = "CONNECTION_LOST"
    /// No answer came in the waiting time after the stage's end.
    static let noAnswer = "NO_ANSWER"
    /// No connection was free for it in the waiting time after the stage's end.
    static let notSent = "NOT_SENT"
    /// The line is not an answer of the protocol.
    static let malformed = "MALFORMED_ANSWER"
}
