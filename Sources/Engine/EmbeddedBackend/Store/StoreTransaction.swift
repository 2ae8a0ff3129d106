import BackendContract
import GRDB
import Geodesy
import Objects

/// The operations of one write transaction. They are valid only inside `SQLiteStore.write`.
public final class StoreTransaction {
    let db: Database
    /// The number of the latest change, including the changes of this transaction.
    public private(set) var lastChange: ChangeNumber
    private let firstChange: ChangeNumber
    /// Notes the changes for other stores; nil if there are none.
    private var journal: StoreJournal?
    /// What has been added to each scope, and is not stored yet.
    var usage: [BucketScope: ScopeUsage] = [:]
    private var fieldNumbers: [FieldPath: UInt32] = [:]
    private var fieldPaths: [UInt32: FieldPath] = [:]
    /// Caches the last field, because most lookups ask for the same one.
    private var lastField: (path: FieldPath, number: UInt32)?
    /// Caches the last bucket, because most lookups ask for the same one.
    private var lastBucket: (name: BucketName, number: Int64)?
    /// The statements that every write needs, looked up once per transaction.
    private var finding: SQLStatement?
    private var inserting: SQLStatement?
    private var updating: SQLStatement?

    init(_ db: Database) throws {
        self.db = db
        lastChange = try StoreScan.lastChange(db)
        firstChange = lastChange
    }

    /// Stores the last change number, and what scopes hold. Numbers are never reused, even after
    /// deletions.
    func finish() throws {
        try storeUsage()
        guard lastChange != firstChange else { return }
        try SQLStatement(
            db, "INSERT OR REPLACE INTO setting (name, value) VALUES ('last change', ?1)"
        ).bind(1, Int64(lastChange)).run()
    }

    /// Begins to note what the transaction changes.
    public func beginJournal() { journal = StoreJournal(after: lastChange) }

    /// What has been changed since `beginJournal`; nil if that was not called.
    public var journaled: StoreChanges? { journal?.finish(at: lastChange) }

    /// Notes a deletion for other stores.
    func note(_ deletion: ListedDeletion) { journal?.note(deletion) }

    /// Takes over the number of the last change from another store.
    public func advance(to change: ChangeNumber) { lastChange = change }

    /// The next change number.
    public func nextChange() -> ChangeNumber {
        lastChange += 1
        return lastChange
    }

    /// The number of a bucket; nil if the bucket does not exist.
    public func bucket(_ name: BucketName) throws -> Int64? {
        if let lastBucket, lastBucket.name == name { return lastBucket.number }
        let number = try SQLStatement(db, "SELECT number FROM bucket WHERE name = ?1")
            .bind(1, name.text).first { $0.int(0) }
        lastBucket = number.map { (name, $0) }
        return number
    }

    /// The stored place of a bucket; nil if it has none, or none was stored yet.
    ///
    /// - Parameter number: the number of the bucket.
    public func place(of number: Int64) throws -> FieldPath? {
        try SQLStatement(db, "SELECT place FROM bucket WHERE number = ?1").bind(1, number)
            .first { $0.path(0) } ?? nil
    }

    /// Stores the place of a bucket.
    ///
    /// - Parameters:
    ///   - number: the number of the bucket.
    ///   - name: the name of the bucket.
    public func setPlace(
        of number: Int64, named name: BucketName, to place: FieldPath?
    ) throws {
        guard try self.place(of: number) != place else { return }
        let statement = try SQLStatement(db, "UPDATE bucket SET place = ?2 WHERE number = ?1")
            .bind(1, number)
        try (place.map { statement.bind(2, text: $0.utf8) } ?? statement.bind(2, nil as String?))
            .run()
        journal?.note(StoreChanges.Bucket(name: name, change: lastChange, place: place))
    }

    /// The number of buckets that a principal has created.
    ///
    /// - Complexity: O(the number), in an index.
    public func bucketCount(by owner: String) throws -> Int {
        try SQLStatement(db, "SELECT count(*) FROM bucket WHERE creator = ?1").bind(1, owner)
            .first { Int($0.int(0)) } ?? 0
    }

    /// Creates a bucket and returns its number. It fails if a bucket of that name exists.
    ///
    /// - Parameter owner: the principal who creates it; nil if nobody is known to.
    public func createBucket(_ name: BucketName, by owner: String? = nil) throws -> Int64 {
        // Rows of a deleted bucket may still have its number.
        let sql = """
            INSERT INTO bucket (number, name, creator) VALUES (
                max(
                    ifnull((SELECT max(number) FROM bucket), 0),
                    ifnull((SELECT max(bucket_number) FROM deletion), 0)) + 1,
                ?1, ?2)
            """
        try SQLStatement(db, sql).bind(1, name.text).bind(2, owner).run()
        let number = db.lastInsertedRowID
        count(name, buckets: 1)
        // The object for which the bucket is created has the next change.
        journal?.note(StoreChanges.Bucket(name: name, change: lastChange + 1))
        return number
    }

    /// The object that a change created, whether damaged or not.
    public func row(creation: ChangeNumber) throws -> StoredRow? {
        let statement = try finding ?? SQLStatement(db, StoredRow.selection)
        finding = statement
        return try statement.bind(1, Int64(creation)).first(StoredRow.init)
    }

    /// Inserts an object. The caller has to ensure that no object has this id.
    ///
    /// - Parameters:
    ///   - number: the number of the bucket.
    ///   - bucket: the name of the bucket.
    public func insert(
        _ metadata: ObjectMetadata, _ document: WrittenDocument, in number: Int64,
        named bucket: BucketName, change: ChangeNumber
    ) throws {
        try insert(
            StoreChanges.Object(
                creation: change, change: change, bucket: bucket, metadata: metadata,
                points: try encode(document.points), text: document.text),
            in: number)
    }

    /// - Parameter number: the number of the bucket.
    func insert(_ object: StoreChanges.Object, in number: Int64) throws {
        let sql = """
            INSERT INTO object (creation, bucket, id, change, version, created, modified, owner,
                data_type, points, document, checksum)
            VALUES (?1, ?2, ?3, ?12, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)
            """
        let statement = try inserting ?? SQLStatement(db, sql)
        inserting = statement
        let metadata = object.metadata
        try statement
            .bind(1, Int64(object.creation)).bind(2, number).bind(3, metadata.id.text)
            .bind(4, metadata.version).bind(5, metadata.created).bind(6, metadata.modified)
            .bind(7, metadata.owner).bind(8, metadata.dataType).bind(11, Self.checksum(object))
            .bind(12, Int64(object.change))
            .run(blob: (9, object.points), text: (10, object.text))
        count(object.bucket, objects: 1, bytes: object.text.count)
        if let time = metadata.expires { try setExpiry(of: object.creation, to: time) }
        journal?.note(object)
    }

    /// - Parameter former: the former expiry time of the object.
    public func update(
        creation: ChangeNumber, _ metadata: ObjectMetadata, _ document: WrittenDocument,
        in bucket: BucketName, change: ChangeNumber, expiringBefore former: Int64?
    ) throws {
        let sql = """
            UPDATE object SET change = ?2, version = ?3, modified = ?4, points = ?5, document = ?6,
                checksum = ?7
            WHERE creation = ?1
            """
        let statement = try updating ?? SQLStatement(db, sql)
        updating = statement
        try countRemoval(of: creation, in: bucket, objects: 0)
        count(bucket, bytes: document.text.count)
        let object = StoreChanges.Object(
            creation: creation, change: change, bucket: bucket, metadata: metadata,
            points: try encode(document.points), text: document.text)
        try statement
            .bind(1, Int64(creation)).bind(2, Int64(change)).bind(3, metadata.version)
            .bind(4, metadata.modified).bind(7, Self.checksum(object))
            .run(blob: (5, object.points), text: (6, object.text))
        if metadata.expires != former { try setExpiry(of: creation, to: metadata.expires) }
        journal?.note(object)
    }

    private static func checksum(_ object: StoreChanges.Object) -> Int64 {
        object.points.withUnsafeBufferPointer { points in
            object.text.withUnsafeBufferPointer { text in
                Int64(
                    RowChecksum.of(
                        object.metadata, creation: object.creation, change: object.change,
                        bucket: object.bucket.text, points: points, document: text))
            }
        }
    }

    /// Deletes an object and leaves a tombstone.
    ///
    /// - Parameter isListed: whether the object is counted as deleted already.
    public func delete(
        creation: ChangeNumber, id: ObjectID, in bucket: BucketName, change: ChangeNumber,
        now: Int64, isListed: Bool = false
    ) throws {
        try countRemoval(of: creation, in: bucket, objects: isListed ? 0 : 1)
        try SQLStatement(db, "DELETE FROM object WHERE creation = ?1")
            .bind(1, Int64(creation)).run()
        try setExpiry(of: creation, to: nil)
        try insert(
            StoreChanges.Tombstone(
                change: change, creation: creation, bucket: bucket, id: id, deleted: now))
    }

    /// Leaves the tombstone of an object that is not there.
    public func insert(_ tombstone: StoreChanges.Tombstone) throws {
        let sql = """
            INSERT INTO tombstone (change, creation, bucket, id, deleted)
            VALUES (?1, ?2, ?3, ?4, ?5)
            """
        try SQLStatement(db, sql)
            .bind(1, Int64(tombstone.change)).bind(2, Int64(tombstone.creation))
            .bind(3, tombstone.bucket.text).bind(4, tombstone.id.text).bind(5, tombstone.deleted)
            .run()
        journal?.note(tombstone)
    }

    /// Deletes a bucket that has no objects left, except those of listed deletions.
    public func deleteBucket(_ number: Int64, named name: BucketName) throws {
        try SQLStatement(db, "DELETE FROM bucket WHERE number = ?1").bind(1, number).run()
        count(name, buckets: -1)
        lastBucket = nil
        // Other stores learn of the deletion by its change number.
        guard let journal else { return }
        journal.note(StoreChanges.DeletedBucket(name: name, change: nextChange()))
    }

    /// The id of the object that a change created.
    public func id(creation: ChangeNumber) throws -> ObjectID? {
        try SQLStatement(db, "SELECT id FROM object WHERE creation = ?1")
            .bind(1, Int64(creation)).first { ObjectID(trusted: $0.text(0) ?? "") }
    }

    // MARK: Expiry

    func setExpiry(of creation: ChangeNumber, to time: Int64?) throws {
        let statement =
            if let time {
                try SQLStatement(db, "INSERT OR REPLACE INTO expiry VALUES (?1, ?2)").bind(2, time)
            } else {
                try SQLStatement(db, "DELETE FROM expiry WHERE creation = ?1")
            }
        try statement.bind(1, Int64(creation)).run()
    }

    /// Some objects whose rows say that they have expired at a time, in the order of their expiry and
    /// creation. Some may be damaged, or deleted by a list.
    ///
    /// - Parameter last: the object that they follow; nil begins with the first.
    public func expired(
        at now: Int64, after last: ExpiredObject?, atMost count: Int
    ) throws -> [ExpiredObject] {
        let sql = """
            SELECT bucket.name, expiry.creation, expiry.time FROM expiry
                JOIN object ON object.creation = expiry.creation
                JOIN bucket ON bucket.number = object.bucket
            WHERE expiry.time <= ?1 AND (expiry.time, expiry.creation) > (?3, ?4)
            ORDER BY expiry.time, expiry.creation LIMIT ?2
            """
        let rows = try SQLStatement(db, sql).bind(1, now).bind(2, Int64(count))
            .bind(3, last?.time ?? .min).bind(4, last.map { Int64($0.creation) } ?? .min)
        var found: [ExpiredObject] = []
        while try rows.step() {
            found.append(
                ExpiredObject(
                    bucket: BucketName(trusted: rows.text(0) ?? ""),
                    creation: ChangeNumber(truncatingIfNeeded: rows.int(1)), time: rows.int(2)))
        }
        return found
    }

    /// Forgets some field paths, of which there are not to be any in points.
    ///
    /// - Parameters:
    ///   - number: the number after which the search begins.
    ///   - count: the most that are looked at.
    ///   - isUsed: whether some object has points at a path.
    /// - Returns: the number of the last that was looked at; nil if there are no more.
    public func forgetFields(
        after number: Int64, atMost count: Int, unless isUsed: (FieldPath) -> Bool
    ) throws -> Int64? {
        let sql = "SELECT number, path FROM geo_field WHERE number > ?1 ORDER BY number LIMIT ?2"
        let rows = try SQLStatement(db, sql).bind(1, number).bind(2, Int64(count))
        defer { rows.reset() }
        var (looked, last, unused): (Int, Int64, [Int64]) = (0, number, [])
        while try rows.step() {
            (looked, last) = (looked + 1, rows.int(0))
            if let path = rows.path(1), !isUsed(path) { unused.append(last) }
        }
        for number in unused {
            try SQLStatement(db, "DELETE FROM geo_field WHERE number = ?1").bind(1, number).run()
        }
        return looked == count ? last : nil
    }

    private func encode(_ points: [FieldPoint]) throws -> [UInt8] {
        PointsColumn.encode(
            try points.map { (try fieldNumber(of: $0.field), $0.coordinate) })
    }

    private func fieldNumber(of field: FieldPath) throws -> UInt32 {
        if let lastField, lastField.path == field { return lastField.number }
        if let known = fieldNumbers[field] {
            lastField = (field, known)
            return known
        }
        let stored = try SQLStatement(db, "SELECT number FROM geo_field WHERE path = ?1")
            .bind(1, text: field.utf8).first { UInt32(truncatingIfNeeded: $0.int(0)) }
        var number = stored
        if number == nil {
            try SQLStatement(db, "INSERT INTO geo_field (path) VALUES (?1)")
                .bind(1, text: field.utf8).run()
            number = UInt32(db.lastInsertedRowID)
            journal?.note(
                StoreChanges.Field(number: Int64(number!), path: field, change: lastChange))
        }
        fieldNumbers[field] = number
        return number!
    }

    /// The path that a number stands for.
    func fieldPath(of number: UInt32) throws(StoreFailure) -> FieldPath {
        if let known = fieldPaths[number] { return known }
        let sql = "SELECT path FROM geo_field WHERE number = ?1"
        let stored = try? SQLStatement(db, sql).bind(1, Int64(number)).first { $0.path(0) }
        guard let path = stored ?? nil else {
            throw StoreFailure.damaged("a point names field \(number), which does not exist")
        }
        fieldPaths[number] = path
        return path
    }
}
