/// Which state of a store reads see, in a backend that may be behind others. Each state has a number
/// that no other state has as long as the process runs.
public struct ReadStates: Sendable {
    /// The state that a read sees that begins now, unless it sees a later one.
    public let present: UInt64
    /// The state that was the latest anywhere when `Backend.mayRead` last let a read begin; nil if
    /// there was a later one.
    public let latest: UInt64?

    /// Stores its arguments.
    public init(present: UInt64, latest: UInt64?) {
        self.present = present
        self.latest = latest
    }

    /// Whether nothing newer was seen.
    public var isLatest: Bool { present == latest }
}
