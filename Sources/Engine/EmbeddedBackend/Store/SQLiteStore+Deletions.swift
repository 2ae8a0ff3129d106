import BackendContract
import GRDB
import Objects

/// The deletions that the store remembers, for those who go on from an earlier state.
extension SQLiteStore {
    /// The objects of a bucket that were deleted after a change, in the order of their deletion;
    /// nil if the store has forgotten some of these deletions.
    ///
    /// - Parameter count: the most that are read.
    public func deletions(
        in bucket: BucketName, after change: ChangeNumber, atMost count: Int
    ) throws(StoreFailure) -> [Deletion]? {
        do {
            return try pool.read { db in
                for setting in [Self.forgottenSetting, Self.forgottenSetting(of: bucket)] {
                    guard change >= (try Self.change(in: setting, db)) else { return nil }
                }
                let sql = """
                    SELECT creation, change, id FROM tombstone
                    WHERE change > ?1 AND bucket = ?2 ORDER BY change LIMIT ?3
                    """
                let rows = try SQLStatement(db, sql)
                    .bind(1, Int64(change)).bind(2, bucket.text).bind(3, Int64(count))
                defer { rows.reset() }
                var found: [Deletion] = []
                while try rows.step() {
                    found.append(
                        Deletion(
                            creation: ChangeNumber(rows.int(0)), change: ChangeNumber(rows.int(1)),
                            id: ObjectID(trusted: rows.text(2) ?? "")))
                }
                // A row that is to be removed stands for a tombstone.
                for deletion in try ListedDeletion.all(db) where deletion.bucket == bucket {
                    let last = deletion.change(ofObject: deletion.creations.count)
                    guard change + 1 < last else { continue }
                    let begin = max(change + 1, deletion.firstChange) - deletion.firstChange
                    var left = count
                    try deletion.forEachRow(from: Int(begin), db) { position, id in
                        found.append(
                            Deletion(
                                creation: deletion.creations[position],
                                change: deletion.change(ofObject: position), id: id))
                        left -= 1
                        return left > 0
                    }
                }
                return Array(found.sorted { $0.change < $1.change }.prefix(count))
            }
        } catch {
            throw StoreFailure(error, path: path)
        }
    }

    /// Notes that the store does not know the deletions of objects of a bucket up to a change.
    public func noteForgottenDeletions(
        in bucket: BucketName, upTo change: ChangeNumber
    ) throws(StoreFailure) {
        try set(Self.forgottenSetting(of: bucket), to: Self.bytes(of: change))
    }

    /// The name under which a store keeps the number of the last deletion that it has forgotten.
    fileprivate static let forgottenSetting = "forgotten deletion"

    fileprivate static func forgottenSetting(of bucket: BucketName) -> String {
        "\(forgottenSetting) in \(bucket.text)"
    }

    fileprivate static func bytes(of change: ChangeNumber) -> [UInt8] {
        withUnsafeBytes(of: change.bigEndian) { Array($0) }
    }

    private static func change(in setting: String, _ db: Database) throws -> ChangeNumber {
        try SQLStatement(db, "SELECT value FROM setting WHERE name = ?1")
            .bind(1, setting).first { rows in
                rows.bytes(0).map { $0.reduce(0) { $0 << 8 | ChangeNumber($1) } } ?? 0
            } ?? 0
    }
}

extension StoreTransaction {
    /// Notes that the store does not know the deletions up to a change.
    public func noteForgottenDeletions(upTo change: ChangeNumber) throws {
        try set(SQLiteStore.forgottenSetting, to: SQLiteStore.bytes(of: change))
    }

    /// Drops what was noted of a bucket that the store does not have any more.
    public func dropForgottenDeletions(in bucket: BucketName) throws {
        try SQLStatement(db, "DELETE FROM setting WHERE name = ?1")
            .bind(1, SQLiteStore.forgottenSetting(of: bucket)).run()
    }
}
