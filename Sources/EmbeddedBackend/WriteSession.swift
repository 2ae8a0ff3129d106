import Backend
import InMemoryEngine
import JSONText
import ObjectStore
import Objects
import QueryLanguage

/// The writes of one transaction, one after the other, and what they did.
///
/// A write that is refused has changed nothing: what can be refused is found before the first row
/// is written. A failure of the store ends the whole transaction.
final class WriteSession {
    /// What the engine is to become.
    let successor: Successor
    private(set) var lastChange: ChangeNumber

    private let transaction: StoreTransaction
    private let engine: InMemoryEngine
    private let limits: Limits
    private let now: Int64
    /// The engine has all documents as they were: those that are deleted need not be handed to it.
    private let isAllSuperseded: Bool
    private var buckets: [BucketName: Int64] = [:]
    private let geoFields: GeoFieldBudget
    private let patchParser = JSONParser()
    private let parser = JSONParser()

    init(
        transaction: StoreTransaction, engine: InMemoryEngine, limits: Limits, now: Int64,
        isAllSuperseded: Bool
    ) {
        self.transaction = transaction
        self.engine = engine
        self.limits = limits
        self.now = now
        geoFields = GeoFieldBudget(limit: limits.geoFields)
        successor = engine.successor()
        self.isAllSuperseded = isAllSuperseded
        lastChange = transaction.lastChange
    }

    /// - Throws: only what fails the transaction; a refusal is a result.
    func perform(_ write: Write, key: RequestKey?) throws -> Result<WriteAnswer, ServiceFailure> {
        do {
            guard let key else { return .success(try answer(to: write)) }
            let memory = RequestMemory(
                transaction: transaction, limit: limits.requestKeys, now: now)
            if let first = try memory.answer(to: key) { return .success(first) }
            let answer = try answer(to: write)
            try memory.remember(answer, to: key)
            return .success(answer)
        } catch let refusal as ServiceFailure {
            return .failure(refusal)
        }
    }

    private func answer(to write: Write) throws -> WriteAnswer {
        switch write {
        case .put(let bucket, let object, let condition):
            if condition != .none { try check(condition, on: object.id, in: bucket) }
            try geoFields.check([object.document.points], in: bucket, of: successor) { _ in
                "object"
            }
            return .stored(try put([object], in: bucket))
        case .putMany(let bucket, let objects):
            let points = objects.indices.lazy.map { objects[$0].document.points }
            try geoFields.check(points, in: bucket, of: successor) { "objects[\($0)]" }
            return .stored(try put(objects, in: bucket))
        case .patch(let bucket, let id, let patch, let version, let expiry):
            return .stored([try self.patch(id, patch, version, expiry, in: bucket)])
        case .delete(let bucket, let id, let version):
            try delete([try deletable(id, in: bucket, version: version)], in: bucket)
            return .deleted(1)
        case .deleteBucket(let bucket): return .deleted(try deleteBucket(bucket))
        case .deleteWhere(let bucket, let clause):
            let creations = try engine.objects(satisfying: clause, in: bucket)
            try delete(creations, in: bucket)
            return .deleted(creations.count)
        }
    }

    /// Removes some of the objects that have expired, and says how many.
    func removeExpired(atMost count: Int) throws -> Int {
        let expired = try transaction.expired(at: now, atMost: Int64(count)).filter {
            // A time that is damaged removes nothing.
            try transaction.row(creation: $0.creation)?.isWhole ?? true
        }
        for (bucket, objects) in Dictionary(grouping: expired, by: \.bucket) {
            try delete(objects.map(\.creation), in: bucket)
        }
        return expired.count
    }

    private func put(_ objects: [PutObject], in bucket: BucketName) throws -> [ObjectMetadata] {
        guard !objects.isEmpty else { return [] }
        let number = try number(of: bucket) ?? createBucket(bucket)
        return try objects.map { try put($0, number, in: bucket) }
    }

    private func put(
        _ object: PutObject, _ number: Int64, in bucket: BucketName
    ) throws -> ObjectMetadata {
        if let id = object.id, let present = try find(id, in: bucket) {
            return try replace(present, object.document, expires: object.expires, in: bucket)
        }
        let metadata = ObjectMetadata(
            id: object.id ?? newID(in: bucket), created: now, modified: now,
            version: 1, owner: object.owner, dataType: object.dataType, expires: object.expires)
        let change = nextChange()
        try transaction.insert(
            metadata, object.document, in: number, named: bucket, change: change)
        record(metadata, object.document, bucket, creation: change, change: change)
        return metadata
    }

    private func check(
        _ condition: WriteCondition, on id: ObjectID?, in bucket: BucketName
    ) throws {
        let present = try id.flatMap { try find($0, in: bucket) }
        switch condition {
        case .none: break
        case .absent:
            if let present {
                throw ServiceFailure(
                    .alreadyExists, "there is an object \"\(present.metadata.id.text)\" already",
                    at: "id")
            }
        case .version(let version):
            guard let present else {
                throw ServiceFailure.noObject(id ?? ObjectID(trusted: ""), in: bucket)
            }
            try checkVersion(of: present, version)
        }
    }

    private func checkVersion(
        of present: PresentObject, _ version: Int64?
    ) throws(ServiceFailure) {
        guard let version, present.metadata.version != version else { return }
        throw ServiceFailure(
            .versionIsStale, "the object has version \(present.metadata.version), not \(version)",
            at: "ifVersion")
    }

    private func patch(
        _ id: ObjectID, _ patch: [UInt8], _ version: Int64?, _ expiry: Expiry,
        in bucket: BucketName
    ) throws -> ObjectMetadata {
        let present = try existing(id, in: bucket, version: version)
        let merged = MergePatch.apply(
            try patchParser.parse(patch), to: try parser.parse(present.document))
        let document = try WrittenDocument(
            try parser.parse(merged), at: "object", limits: limits)
        try geoFields.check([document.points], in: bucket, of: successor) { _ in "object" }
        return try replace(
            present, document, expires: expiry.applied(to: present.metadata.expires), in: bucket)
    }

    /// The object that is to be deleted: one that is damaged too, unless something is asked of it.
    private func deletable(
        _ id: ObjectID, in bucket: BucketName, version: Int64?
    ) throws -> ChangeNumber {
        do {
            return try existing(id, in: bucket, version: version).creation
        } catch StoreFailure.damagedObject(let creation) where version == nil {
            return creation
        }
    }

    private func existing(
        _ id: ObjectID, in bucket: BucketName, version: Int64?
    ) throws -> PresentObject {
        guard let present = try find(id, in: bucket) else {
            throw ServiceFailure.noObject(id, in: bucket)
        }
        try checkVersion(of: present, version)
        return present
    }

    /// An object that is there; one that has expired is removed now, so that its id is free.
    private func find(_ id: ObjectID, in bucket: BucketName) throws -> PresentObject? {
        guard let (creation, latest) = successor.changes(of: id, in: bucket),
            let found = try present(creation, latest)
        else { return nil }
        guard let time = found.metadata.expires, time <= now else { return found }
        try delete([found.creation], in: bucket)
        return nil
    }

    /// An object as it is now: from memory, unless this very transaction has changed it.
    private func present(
        _ creation: ChangeNumber, _ latest: ChangeNumber
    ) throws -> PresentObject? {
        if let document = engine.cachedDocument(creation: creation, change: latest),
            let present = PresentObject(
                creation: creation, change: latest, document: document, parser)
        {
            return present
        }
        return try transaction.find(creation: creation).map(PresentObject.init)
    }

    /// An id that no object of the bucket has.
    private func newID(in bucket: BucketName) -> ObjectID {
        while true {
            let id = ObjectID.new(at: now)
            if successor.changes(of: id, in: bucket) == nil { return id }
        }
    }

    private func replace(
        _ present: PresentObject, _ document: WrittenDocument, expires: Int64?,
        in bucket: BucketName
    ) throws -> ObjectMetadata {
        var metadata = present.metadata
        metadata.version += 1
        metadata.modified = max(now, metadata.modified)
        metadata.expires = expires
        let change = nextChange()
        engine.supersede(present.document, change: present.change)
        try transaction.update(
            creation: present.creation, metadata, document, in: bucket, change: change,
            expiringBefore: present.metadata.expires)
        record(metadata, document, bucket, creation: present.creation, change: change)
        return metadata
    }

    private func delete(_ creations: [ChangeNumber], in bucket: BucketName) throws {
        for creation in creations {
            let id: ObjectID?
            if isAllSuperseded {
                id = try transaction.id(creation: creation)
            } else {
                let row = try transaction.row(creation: creation)
                if let row, row.isWhole { engine.supersede(row.document, change: row.change) }
                id = row?.metadata.id
            }
            guard let id else { continue }
            try transaction.delete(
                creation: creation, id: id, in: bucket, change: nextChange(), now: now)
        }
        if !creations.isEmpty { successor.delete(creations, in: bucket) }
    }

    private func deleteBucket(_ bucket: BucketName) throws -> Int {
        guard let number = try number(of: bucket) else {
            throw ServiceFailure(
                .bucketNotFound, "there is no bucket \"\(bucket.text)\"", at: "bucket")
        }
        let creations = successor.creations(in: bucket)
        let expired = try transaction.expiredCount(in: number, at: now)
        try delete(creations, in: bucket)
        try transaction.deleteBucket(number)
        buckets[bucket] = nil
        successor.deleteBucket(bucket)
        return creations.count - expired
    }

    private func record(
        _ metadata: ObjectMetadata, _ document: WrittenDocument, _ bucket: BucketName,
        creation: ChangeNumber, change: ChangeNumber
    ) {
        successor.upsert(
            ObjectChange(
                bucket: bucket, metadata: metadata, creation: creation, change: change,
                points: document.points),
            document.text, parser)
    }

    private func nextChange() -> ChangeNumber {
        lastChange = transaction.nextChange()
        return lastChange
    }

    private func number(of bucket: BucketName) throws -> Int64? {
        if let known = buckets[bucket] { return known }
        let number = try transaction.bucket(bucket)
        buckets[bucket] = number
        return number
    }

    private func createBucket(_ bucket: BucketName) throws -> Int64 {
        let number = try transaction.createBucket(bucket)
        buckets[bucket] = number
        return number
    }
}
