/// The result of a check of a store.
public struct CheckReport: Sendable, Equatable {
    /// The number of objects that were checked.
    public var objects = 0
    /// The number of points that the store holds for these objects.
    public var points = 0
    /// The number of buckets in the store.
    public var buckets = 0
    /// One sentence for each disagreement; empty if there is none.
    public var problems: [String] = []

    /// A report without objects and without problems.
    public init() {}
}
