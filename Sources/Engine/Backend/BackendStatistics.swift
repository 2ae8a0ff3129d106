/// Counts and sizes, of what can be said without looking for long.
public struct BackendStatistics: Sendable, Equatable {
    /// How many buckets there are.
    public var buckets = 0
    /// Objects of all buckets.
    public var objects = 0
    /// Indexed points of all buckets: each GeoPoint of an object is one.
    public var points = 0
    /// Fields kept as typed values, of all buckets.
    public var columns = 0
    /// What the structures take in memory, by part.
    public var memory = MemoryStatistics()
    /// Bytes that the store takes on disk, its log included; 0 for a backend without a store.
    public var storeBytes = 0
    /// Writes that wait to be committed.
    public var waitingWrites = 0
    /// The number of the latest change.
    public var change: UInt64 = 0
    /// Transactions of writes since the start.
    public var commits = 0

    /// All numbers 0.
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
    /// Values of fields kept by type, by which clauses are decided without the documents.
    public var columns = 0
    /// Documents held as clients read them, so that they need not be read from the store.
    public var documentCache = 0
    /// Documents replaced or deleted that a read under way may still ask for.
    public var supersededDocuments = 0
    /// The store's own page caches and statements.
    public var storeCache = 0

    /// All parts 0 bytes.
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
