/// Counts and sizes, of what can be said without looking for long.
public struct BackendStatistics: Sendable, Equatable {
    public var buckets = 0
    public var objects = 0
    public var points = 0
    /// Fields kept as typed values, of all buckets.
    public var columns = 0
    public var memory = MemoryStatistics()
    public var storeBytes = 0
    /// Writes that wait to be committed.
    public var waitingWrites = 0
    /// The number of the latest change.
    public var change: UInt64 = 0
    /// Transactions of writes since the start.
    public var commits = 0

    public init() {}
}

/// Where memory goes, in bytes: what the structures take, counted, not what the process has.
public struct MemoryStatistics: Sendable, Equatable {
    /// What a bucket takes that has nothing in it, and its name.
    public var buckets = 0
    /// Creation and latest change of each object.
    public var records = 0
    /// The ids, and the tables that find an object by its id.
    public var ids = 0
    /// The spatial indexes.
    public var points = 0
    public var columns = 0
    public var documentCache = 0
    /// Documents replaced or deleted that a read under way may still ask for.
    public var supersededDocuments = 0
    /// The store's own page caches and statements.
    public var storeCache = 0

    public init() {}

    /// Each part by its name on the wire.
    public var parts: [(name: StaticString, bytes: Int)] {
        [
            ("bucketBytes", buckets), ("recordBytes", records), ("idBytes", ids),
            ("pointBytes", points), ("columnBytes", columns),
            ("cachedDocumentBytes", documentCache),
            ("supersededDocumentBytes", supersededDocuments), ("storeCacheBytes", storeCache),
        ]
    }
}
