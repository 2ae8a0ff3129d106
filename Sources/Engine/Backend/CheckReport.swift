/// What a check of a store has looked at and found.
public struct CheckReport: Sendable, Equatable {
    /// Objects that were looked at.
    public var objects = 0
    /// Points of the objects, as the store keeps them.
    public var points = 0
    /// Buckets that the store names.
    public var buckets = 0
    /// Every disagreement, in a sentence; empty when all is well.
    public var problems: [String] = []

    /// A report of nothing: no objects, no problems.
    public init() {}
}
