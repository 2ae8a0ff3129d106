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
    /// The pages of the store's file that hold nothing, of 4 KiB each.
    public var freePages = 0
    /// The size of the disk that the store is on, in bytes; 0 if that is not known.
    public var diskBytes = 0
    /// How much of it is free, in bytes; 0 if that is not known.
    public var diskFreeBytes = 0
    /// The number of queries and counts that had to go through a whole bucket.
    public var scans = 0
    /// The number of writes that wait to be committed.
    public var waitingWrites = 0
    /// The number of the latest change.
    public var change: UInt64 = 0
    /// The number of write transactions since the start.
    public var commits = 0

    /// How a node stands to the store that it shares; nil for a store of its own.
    public var cluster: ClusterStatistics?

    /// Statistics in which every number is 0.
    public init() {}
}

/// How a node stands to the store that it shares with others.
public struct ClusterStatistics: Sendable, Equatable {
    /// The number of the last change that the node has applied.
    public var applied: UInt64 = 0
    /// The number of the last change that the store was seen to have.
    public var head: UInt64 = 0
    /// For how long the node may have lacked something that the store has, in milliseconds.
    public var lagMilliseconds: Int64 = 0
    /// The time of the last question to the store and its answer, in microseconds.
    public var roundTripMicroseconds: Int64 = 0
    /// The number of transactions that the node has committed to the store.
    public var batches = 0
    /// How often the node has thrown away its state because the store no longer had it.
    public var rebuilds = 0
    /// How far the node's clock is ahead of the store's, in milliseconds.
    public var skewMilliseconds: Int64 = 0
    /// For how long the oldest snapshot of the store is open, in milliseconds.
    public var snapshotMilliseconds: Int64 = 0
    /// How many transactions of the store have begun since the oldest snapshot.
    public var snapshotTransactions: Int64 = 0

    /// The part of all buckets that the node holds; nil if it holds every one.
    public var share: ShareStatistics?

    /// Statistics in which every number is 0.
    public init() {}

    /// Each number and its name on the wire.
    public var parts: [(name: StaticString, value: Int)] { ownParts + (share?.parts ?? []) }

    private var ownParts: [(name: StaticString, value: Int)] {
        [
            ("applied", Int(applied)), ("head", Int(head)),
            ("lagMilliseconds", Int(lagMilliseconds)),
            ("roundTripMicroseconds", Int(roundTripMicroseconds)), ("batches", batches),
            ("rebuilds", rebuilds), ("skewMilliseconds", Int(skewMilliseconds)),
            ("snapshotMilliseconds", Int(snapshotMilliseconds)),
            ("snapshotTransactions", Int(snapshotTransactions)),
        ]
    }
}

/// The part of all buckets that a node holds.
public struct ShareStatistics: Sendable, Equatable {
    /// The nodes that are alive, this one included.
    public var nodes = 0
    /// The number of buckets that the node holds.
    public var held = 0
    /// The number of buckets that it loads or is going to load.
    public var loading = 0
    /// How often it has loaded a bucket since its start.
    public var loads = 0
    /// How often it has let go of a bucket.
    public var releases = 0
    /// The number of buckets that it does not load because they do not fit.
    public var refused = 0

    /// Statistics in which every number is 0.
    public init() {}

    /// Each number and its name on the wire.
    public var parts: [(name: StaticString, value: Int)] {
        [
            ("nodes", nodes), ("heldBuckets", held), ("loadingBuckets", loading),
            ("loads", loads), ("releases", releases), ("refusedBuckets", refused),
        ]
    }
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
