import BackendContract
import InMemoryEngine
import JSONText
import Objects
import QueryLanguage

/// The state of one write transaction: a transaction of the store together with the engine's next
/// snapshot. The write rules read from it and write to it as one state.
final class WriteSession: TransactionState {
    /// The engine's next snapshot.
    let nextSnapshot: NextSnapshot
    /// The writes that were done under a key.
    let requests: any RequestLedger

    /// What the transaction's `deleteWhere` deletes; nil if it has none.
    var found: FoundDeletion?
    /// What has been made beside the writer for deletions of other stores.
    let foreseen: [BucketName: ForeseenDeletion]
    /// The deletions of which the transaction has written a list.
    private(set) var listed: [ListedDeletion] = []

    let transaction: StoreTransaction
    let engine: Engine
    /// Whether the engine already keeps all former documents, so that deleted documents need not be
    /// handed to it. Only then may deletions be listed.
    let isAllSuperseded: Bool
    private let upstream: (any Upstream)?
    /// The rows that the transaction removes for one deletion.
    private let rowsAtOnce: Int
    private var buckets: [BucketName: Int64] = [:]
    private let parser: JSONParser

    init(
        transaction: StoreTransaction, engine: Engine, parser: JSONParser,
        isAllSuperseded: Bool, upstream: (any Upstream)? = nil,
        requests: (any RequestLedger)? = nil, foreseen: [BucketName: ForeseenDeletion] = [:]
    ) {
        self.foreseen = foreseen
        self.upstream = upstream
        self.transaction = transaction
        self.engine = engine
        self.parser = parser
        self.isAllSuperseded = isAllSuperseded
        rowsAtOnce = engine.deletedAtOnce
        nextSnapshot = engine.nextSnapshot()
        self.requests = requests ?? transaction
    }

    /// The number of the last change, including the changes of this transaction.
    var lastChange: ChangeNumber { transaction.lastChange }

    // MARK: Reading the state

    /// Reads from memory, unless this transaction has changed the object.
    func find(_ id: ObjectID, in bucket: BucketName) throws -> FoundObject? {
        guard let (creation, latest) = nextSnapshot.changes(of: id, in: bucket) else { return nil }
        if let document = engine.cachedDocument(creation: creation, change: latest),
            let present = PresentObject(
                creation: creation, change: latest, document: document, parser)
        {
            return .whole(present)
        }
        return try transaction.row(creation: creation).map { row in
            guard row.isWhole else {
                return .damaged(
                    creation: creation, failure: StoreFailure.damagedObject(creation: creation))
            }
            return .whole(
                PresentObject(
                    creation: creation, change: row.change, metadata: row.metadata,
                    document: row.document))
        }
    }

    func hasObject(_ id: ObjectID, in bucket: BucketName) -> Bool {
        nextSnapshot.changes(of: id, in: bucket) != nil
    }

    func hasBucket(_ bucket: BucketName) throws -> Bool { try number(of: bucket) != nil }

    func bucketCount(by owner: String) throws -> Int { try transaction.bucketCount(by: owner) }

    func usage(of scope: BucketScope) throws -> ScopeUsage { try transaction.usage(of: scope) }

    func documentBytes(of present: PresentObject) throws -> Int {
        try transaction.documentBytes(of: present.creation)
    }

    func objects(satisfying clause: Clause, in bucket: BucketName) -> [ChangeNumber] {
        guard let found else { preconditionFailure("nobody has searched") }
        return found.creations
    }

    func expired(
        at now: Int64, after last: ExpiredObject?, atMost count: Int
    ) throws -> [ExpiredObject] {
        try transaction.expired(at: now, after: last, atMost: count)
    }

    func mayRemove(_ expired: ExpiredObject) throws -> Bool {
        // Only who judges writes to a bucket knows what has expired there.
        if let upstream, upstream.refusal(of: expired.bucket) != nil { return false }
        // A listed deletion removes its rows itself.
        guard nextSnapshot.has(expired.creation, in: expired.bucket) else { return false }
        // A damaged row may have a wrong expiry time, so it is never removed as expired.
        return try transaction.row(creation: expired.creation)?.isWhole ?? true
    }

    func hasGeoPoints(at field: FieldPath, in bucket: BucketName) -> Bool {
        nextSnapshot.hasGeoPoints(at: field, in: bucket)
    }

    func geoFieldCount(of bucket: BucketName) -> Int { nextSnapshot.geoFieldCount(of: bucket) }

    // MARK: Changing the state

    func insert(
        _ metadata: ObjectMetadata, _ document: WrittenDocument, in bucket: BucketName
    ) throws {
        let number = try number(of: bucket) ?? createBucket(bucket, by: metadata.owner)
        let change = nextChange()
        try transaction.insert(metadata, document, in: number, named: bucket, change: change)
        record(metadata, document, bucket, creation: change, change: change)
    }

    func replace(
        _ present: PresentObject, with metadata: ObjectMetadata, _ document: WrittenDocument,
        in bucket: BucketName
    ) throws {
        let change = nextChange()
        engine.supersede(present.document, change: present.change)
        try transaction.update(
            creation: present.creation, metadata, document, in: bucket, change: change,
            expiringBefore: present.metadata.expires)
        record(metadata, document, bucket, creation: present.creation, change: change)
    }

    func delete(_ creations: [ChangeNumber], in bucket: BucketName, at now: Int64) throws {
        if isAllSuperseded, creations.count > rowsAtOnce {
            let changes = try list(creations, in: bucket, at: now)
            nextSnapshot.delete(creations, in: bucket, by: changes, leaving: found)
        } else {
            try deleteRows(of: creations, in: bucket, at: now)
        }
    }

    /// Lists objects whose rows are removed later. Returns the changes that delete them.
    private func list(
        _ creations: [ChangeNumber], in bucket: BucketName, at now: Int64
    ) throws -> [ChangeNumber] {
        guard let number = try number(of: bucket) else {
            preconditionFailure("objects without a bucket")
        }
        let deletion = try transaction.list(creations, in: number, named: bucket, now: now)
        note(deletion)
        return Array(deletion.firstChange...lastChange)
    }

    /// Notes a deletion whose rows stay for a while.
    func note(_ deletion: ListedDeletion) {
        listed.append(deletion)
        nextSnapshot.rowsStay = true
    }

    private func deleteRows(
        of creations: [ChangeNumber], in bucket: BucketName, at now: Int64
    ) throws {
        var changes: [ChangeNumber] = []
        for creation in creations {
            let id: ObjectID?
            if isAllSuperseded {
                id = try transaction.id(creation: creation)
            } else {
                let row = try transaction.row(creation: creation)
                if let row, row.isWhole { engine.supersede(row.document, change: row.change) }
                id = row?.metadata.id
            }
            guard let id else {
                changes.append(lastChange)
                continue
            }
            changes.append(nextChange())
            try transaction.delete(
                creation: creation, id: id, in: bucket, change: changes.last!, now: now)
        }
        if !creations.isEmpty { nextSnapshot.delete(creations, in: bucket, by: changes) }
    }

    func deleteBucket(_ bucket: BucketName, at now: Int64) throws -> Int {
        let expired = nextSnapshot.expiredCount(in: bucket, at: now)
        let creations = nextSnapshot.creations(in: bucket)
        if isAllSuperseded, creations.count > rowsAtOnce {
            let changes = try list(creations, in: bucket, at: now)
            try dropBucket(bucket, with: creations, by: changes)
        } else {
            try deleteRows(of: creations, in: bucket, at: now)
            try dropBucket(bucket)
        }
        return creations.count - expired
    }

    func dropBucket(
        _ bucket: BucketName, with creations: [ChangeNumber] = [], by changes: [ChangeNumber] = []
    ) throws {
        guard let number = try number(of: bucket) else { return }
        try transaction.deleteBucket(number, named: bucket)
        buckets[bucket] = nil
        nextSnapshot.deleteBucket(bucket, with: creations, by: changes)
    }

    /// Stores the places of the changed buckets.
    func storePlaces() throws {
        for (bucket, place) in nextSnapshot.electPlaces() {
            guard let number = try number(of: bucket) else { continue }
            try transaction.setPlace(of: number, named: bucket, to: place)
        }
    }

    func record(
        _ metadata: ObjectMetadata, _ document: WrittenDocument, _ bucket: BucketName,
        creation: ChangeNumber, change: ChangeNumber
    ) {
        nextSnapshot.upsert(
            ObjectChange(
                bucket: bucket, metadata: metadata, creation: creation, change: change,
                points: document.points),
            document.text, parser)
    }

    private func nextChange() -> ChangeNumber { transaction.nextChange() }

    func number(of bucket: BucketName) throws -> Int64? {
        if let known = buckets[bucket] { return known }
        let number = try transaction.bucket(bucket)
        buckets[bucket] = number
        return number
    }

    func createBucket(_ bucket: BucketName, by owner: String? = nil) throws -> Int64 {
        let number = try transaction.createBucket(bucket, by: owner)
        buckets[bucket] = number
        return number
    }
}
