import BackendContract
import EmbeddedBackend
import Objects

/// What a node that holds a part of the buckets wants of the changes of others.
public struct ChangeFilter {
    private let isWanted: (BucketName, ChangeNumber) -> Bool
    private let passed: (BucketName) -> Void

    /// - Parameters:
    ///   - isWanted: whether a change of something in a bucket is wanted.
    ///   - passed: called with buckets in which something has changed that is not wanted.
    public init(
        isWanted: @escaping (BucketName, ChangeNumber) -> Bool,
        passed: @escaping (BucketName) -> Void
    ) {
        self.isWanted = isWanted
        self.passed = passed
    }

    /// Leaves out what is not wanted. All field paths are: their numbers are the store's.
    func apply(to changes: inout StoreChanges) {
        changes.buckets.removeAll { !wants($0.name, $0.change) }
        changes.deletedBuckets.removeAll { !isWanted($0.name, $0.change) }
        changes.tombstones.removeAll { !isWanted($0.bucket, $0.change) }
        changes.deletions.removeAll { !isWanted($0.bucket, $0.lastChange) }
    }

    /// What has to be known of a changed object, without the object itself: a node fetches only
    /// those that it wants.
    static let columns = "object.creation, object.change, bucket.name"
    static let columnCount = 3

    /// Whether the object in a row of `columns` is wanted.
    func wants(_ rows: PostgresRows, _ row: Int) -> Bool {
        wants(BucketName(trusted: rows.text(row, 2)), ChangeNumber(rows.int(row, 1)))
    }

    /// Whether an object is wanted, of a bucket that has been asked for before.
    func wants(_ object: StoreChanges.Object) -> Bool { isWanted(object.bucket, object.change) }

    private func wants(_ bucket: BucketName, _ change: ChangeNumber) -> Bool {
        if isWanted(bucket, change) { return true }
        passed(bucket)
        return false
    }
}

extension ClusterTables {
    private static let someObjects = """
        SELECT \(ObjectColumns.list) FROM object JOIN bucket ON bucket.number = object.bucket
        WHERE object.creation = ANY ($1) ORDER BY object.creation
        """

    /// The wanted ones of the objects that some rows of `ChangeFilter.columns` name, at the state of
    /// the transaction under way.
    func objects(
        _ found: [Int], of rows: PostgresRows, _ filter: ChangeFilter
    ) throws(PostgresFailure) -> [StoreChanges.Object] {
        let wanted = found.filter { filter.wants(rows, $0) }.map { rows.int($0, 0) }
        guard !wanted.isEmpty else { return [] }
        let found = try run([PostgresStatement(Self.someObjects, .ints(wanted))])[0]
        return (0..<found.count).map { ObjectColumns.object(found, $0) }
    }
}
