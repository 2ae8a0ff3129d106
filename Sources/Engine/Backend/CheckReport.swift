/// What a check of a store has looked at and found.
public struct CheckReport: Sendable, Equatable {
    public var objects = 0
    public var points = 0
    public var buckets = 0
    /// Every disagreement, in a sentence; empty when all is well.
    public var problems: [String] = []

    public init() {}
}
