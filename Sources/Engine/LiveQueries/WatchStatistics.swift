/// Counts about watches that are cheap to obtain.
public struct WatchStatistics: Sendable, Equatable {
    /// The present watches.
    public var watches = 0
    /// Events that have been handed to connections.
    public var events = 0
    /// Writes of watched buckets that have been compared with watches.
    public var matchedWrites = 0
    /// How often a watch began again with a snapshot.
    public var resyncs = 0
    /// The changes that have not been matched yet.
    public var changesBehind: UInt64 = 0
    /// For how long the oldest of them has waited, in milliseconds.
    public var millisecondsBehind: Int64 = 0

    /// Statistics in which every number is 0.
    public init() {}

    /// Each number and its name on the wire.
    public var parts: [(name: StaticString, value: Int)] {
        [
            ("watches", watches), ("events", events), ("matchedWrites", matchedWrites),
            ("resyncs", resyncs), ("changesBehind", Int(changesBehind)),
            ("millisecondsBehind", Int(millisecondsBehind)),
        ]
    }
}
