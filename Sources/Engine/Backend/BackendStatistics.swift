/// Counts and sizes that are cheap to obtain.
public struct BackendStatistics: Sendable, Equatable {
    /// The number of buckets.
    public var buckets = 0
    /// The number of objects in all buckets.
    public var objects = 0
    /// The number of indexed points in all buckets. Each GeoPoint of an object counts as one.
    public var points = 0
    /// The number of columns in all buckets.
    public var columns = 0
    /// The memory that the structures occupy, by part.
    public var memory = MemoryStatistics()
    /// The bytes that the store occupies on disk, including its log; 0 for a backend without a
    /// store.
    public var storeBytes = 0
    /// The number of writes that wait to be committed.
    public var waitingWrites = 0
    /// The number of the latest change.
    public var change: UInt64 = 0
    /// The number of write transactions since the start.
    public var commits = 0

    /// Statistics in which every number is 0.
    public init() {}
}

/// The memory of the structures in bytes, as counted by each structure. The process uses more.
public struct MemoryStatistics: Sendable, Equatable {
    /// Empty buckets and their names.
    public var buckets = 0
    /// The creation and the latest change of each object.
    public var records = 0
    /// The ids, and the tables that find an object by its id.
    public var ids = 0
    /// The spatial indexes.
    public var points = 0
    /// Columns: field values kept by type, which decide clauses without the documents.
    public var columns = 0
    /// Cached documents, as clients read them, which need not be read from the store.
    public var documentCache = 0
    /// Documents that were replaced or deleted, but that a read in progress may still ask for.
    public var supersededDocuments = 0
    /// The store's own page caches and statements.
    public var storeCache = 0

    /// Statistics in which every part is 0 bytes.
    public init() {}

    /// Each part and its name on the wire.
    public var parts: [(name: StaticString, bytes: Int)] {
        [
            ("bucketBytes", buckets), ("recordBytes", records), ("idBytes", ids),
            ("pointBytes", points), ("columnBytes", columns),
            ("cachedDocumentBytes", documentCache),
            ("supersededDocumentBytes", supersededDocuments), ("storeCacheBytes", storeCache),
        ]
    }
}
