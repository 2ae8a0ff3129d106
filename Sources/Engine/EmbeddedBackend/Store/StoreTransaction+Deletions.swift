import BackendContract
import Objects

/// Deletions of many objects: a list first, and the rows later.
extension StoreTransaction {
    /// Deletes objects by a list of the changes that created them, in ascending order.
    ///
    /// - Parameters:
    ///   - number: the number of the bucket, which is not used again while rows have it.
    ///   - bucket: the name of the bucket.
    /// - Returns: the deletion, whose rows the caller removes later.
    public func list(
        _ creations: [ChangeNumber], in number: Int64, named bucket: BucketName, now: Int64
    ) throws -> ListedDeletion {
        let deletion = ListedDeletion(
            creations, in: bucket, from: nextChange(), at: now)
        advance(to: deletion.lastChange)
        try insert(deletion, in: number)
        return deletion
    }

    /// Takes over a deletion, whose rows the caller removes later.
    ///
    /// - Parameter number: the number that the bucket has here.
    public func insert(_ deletion: ListedDeletion, in number: Int64) throws {
        let (list, checksum) = deletion.encoded()
        try SQLStatement(
            db,
            """
            INSERT INTO deletion (\(ListedDeletion.columns), bucket_number)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6)
            """
        ).bind(1, Int64(deletion.firstChange)).bind(2, deletion.bucket.text)
            .bind(3, deletion.deleted).bind(4, blob: list).bind(5, checksum).bind(6, number).run()
        note(deletion)
        count(deletion.bucket, objects: -deletion.creations.count)
    }

    /// Removes the row of an object of a listed deletion, if it is still there, and leaves a
    /// tombstone.
    public func removeRow(_ position: Int, of deletion: ListedDeletion) throws {
        let creation = deletion.creations[position]
        guard let id = try id(creation: creation) else { return }
        try delete(
            creation: creation, id: id, in: deletion.bucket,
            change: deletion.change(ofObject: position), now: deletion.deleted,
            isListed: true)
    }

    /// Forgets the list of a deletion whose rows have been removed.
    public func forget(_ deletion: ListedDeletion) throws {
        try SQLStatement(db, "DELETE FROM deletion WHERE first_change = ?1")
            .bind(1, Int64(deletion.firstChange)).run()
    }
}

extension SQLiteStore {
    /// The deletions whose rows may still be there, the oldest first.
    public func listedDeletions() throws(StoreFailure) -> [ListedDeletion] {
        do {
            return try pool.read(ListedDeletion.all)
        } catch {
            throw StoreFailure(error, path: path)
        }
    }
}
