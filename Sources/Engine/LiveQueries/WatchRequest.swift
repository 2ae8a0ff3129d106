import Objects
import QueryLanguage

/// A watch as a client asks for it; validated.
public struct WatchRequest: Sendable {
    /// The bucket.
    public var bucket: BucketName
    /// What to watch.
    public var query: WatchQuery
    /// First-level names to tell; nil means whole objects.
    public var fields: [[UInt8]]?
    /// Where an earlier watch ended.
    public var resume: String?

    /// Every bucket that the watch reads.
    public var buckets: [BucketName] { [bucket] }

    /// Reads it out of params.
    public init(
        bucket: BucketName, from members: inout MemberReader, limits: Limits
    ) throws(ServiceFailure) {
        self.bucket = bucket
        let query = try QueryParser(limits: limits).query(from: &members)
        self.query = WatchQuery(query)
        fields = query.fields
        resume = try members.optionalString("resume")
    }
}

/// What a watch watches.
public struct WatchQuery: Sendable {
    let query: Query

    init(_ query: Query) { self.query = query }

    /// Reads it out of params.
    public init(from members: inout MemberReader, limits: Limits) throws(ServiceFailure) {
        query = try QueryParser(limits: limits).query(from: &members)
    }
}

/// A watch that has begun.
public struct WatchStart: Sendable {
    /// Its name on its connection.
    public let name: String
    /// Whether it goes on from where it was to; nil when that was not asked for.
    public let resumed: Bool?
}

/// Numbers of a hub.
public struct WatchStatistics: Sendable {
    /// Watches that have begun and not ended.
    public var watches = 0
    /// Events sent.
    public var events = 0
    /// Writes that concerned a watch.
    public var matchedWrites = 0
    /// Watches that were told the whole state again.
    public var resyncs = 0
    /// Changes that have not been matched yet.
    public var changesBehind: UInt64 = 0
    /// For how long the oldest of them has waited.
    public var millisecondsBehind: Int64 = 0

    /// Each number and its name on the wire.
    public var parts: [(name: StaticString, value: Int)] {
        [
            ("watches", watches), ("events", events), ("matchedWrites", matchedWrites),
            ("resyncs", resyncs), ("changesBehind", Int(changesBehind)),
            ("millisecondsBehind", Int(millisecondsBehind)),
        ]
    }

    /// All zero.
    public init() {}
}
