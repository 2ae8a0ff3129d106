import JSONText
import Objects
import QueryLanguage

/// The semantics of writes, independent of the store. Writes are evaluated one after the other in
/// the state of one transaction; each is either done or rejected.
///
///     let evaluator = WriteEvaluator(on: state, at: now, limits: limits, parser: parser) {
///         newID(at: $0)
///     }
///     let delete = Write.delete(bucket: shops, id: id, ifVersion: 3)
///     try evaluator.perform(delete, key: nil)  // .success(.deleted(1))
///
/// A rejected write changes nothing, because every reason for a rejection is checked before the
/// first change. An expired object counts as absent, and a write that finds one removes it.
///
/// The evaluator uses no store, no clock and no randomness: equal states, times and id sources give
/// equal answers.
public struct WriteEvaluator<State: TransactionState> {
    private let state: State
    private let now: Int64
    private let limits: Limits
    private let newID: (Int64) -> ObjectID
    private let parser: JSONParser
    /// Parses a second text while a view of `parser` is in use.
    private let secondParser: JSONParser

    /// - Parameters:
    ///   - now: the present time in milliseconds since 1970.
    ///   - parser: the evaluator keeps no view of it beyond one step, so the state may use the
    ///     parser too.
    ///   - secondParser: nobody else uses it at the same time.
    ///   - newID: returns an id that is almost certainly unused, for a time in milliseconds since
    ///     1970.
    public init(
        on state: State, at now: Int64, limits: Limits, parser: JSONParser,
        secondParser: JSONParser = JSONParser(), newID: @escaping (Int64) -> ObjectID
    ) {
        self.state = state
        self.now = now
        self.limits = limits
        self.parser = parser
        self.secondParser = secondParser
        self.newID = newID
    }

    /// - Parameter key: if a write has been done under this key within the last 24 hours, this
    ///   write is not done again, and its answer is that of the first one.
    /// - Throws: only errors that fail the transaction. A rejection is a result.
    public func perform(
        _ write: Write, key: RequestKey?
    ) throws -> Result<WriteAnswer, ServiceFailure> {
        do {
            guard let key else { return .success(try answer(to: write)) }
            let memory = RequestHistory(
                ledger: state.requests, limit: limits.requestKeys, now: now)
            if let first = try memory.answer(to: key) { return .success(first) }
            let answer = try answer(to: write)
            try memory.remember(answer, to: key)
            return .success(answer)
        } catch let refusal as ServiceFailure {
            return .failure(refusal)
        }
    }

    /// Removes some of the expired objects.
    ///
    /// - Parameters:
    ///   - last: what an earlier call returned; nil begins with the first that has expired.
    ///   - isOver: asked after each object whether the rest has to wait for another call.
    /// - Returns: the last object that was looked at; nil if there are no more.
    public func removeExpired(
        after last: ExpiredObject? = nil, atMost count: Int, until isOver: () -> Bool = { false }
    ) throws -> ExpiredObject? {
        let expired = try state.expired(at: now, after: last, atMost: count)
        for object in expired {
            if try state.mayRemove(object) {
                try state.delete([object.creation], in: object.bucket, at: now)
            }
            if isOver() { return object }
        }
        return expired.count < count ? nil : expired.last
    }

    private func answer(to write: Write) throws -> WriteAnswer {
        switch write {
        case .put(let bucket, let object, let condition):
            .stored([try put(object, if: condition, in: bucket)])
        case .putMany(let bucket, let objects): .stored(try put(objects, in: bucket))
        case .patch(
            let bucket, let id, let patch, let version, let ifNewer, let expiry, let options):
            .stored([try self.patch(id, patch, version, ifNewer, expiry, options, in: bucket)])
        case .delete(let bucket, let id, let version):
            .deleted(try delete([try deletable(id, in: bucket, version: version)], in: bucket))
        case .deleteBucket(let bucket): .deleted(try deleteBucket(bucket))
        case .deleteWhere(let bucket, let clause):
            .deleted(
                try delete(try state.objects(satisfying: clause, in: bucket), in: bucket))
        }
    }

    // MARK: Puts and patches

    private func put(
        _ object: PutObject, if condition: WriteCondition, in bucket: BucketName
    ) throws -> WriteResult {
        let present = try object.id.flatMap { try whole($0, in: bucket) }
        if condition != .none { try condition.check(present?.metadata, object.id, in: bucket) }
        if let kept = try kept(present, from: object) { return kept }
        try checkGeoFields([object.document.points], in: bucket) { _ in "object" }
        if present == nil { try checkBuckets(of: object.owner, creating: bucket) }
        try checkQuota(of: bucket) { try growth(by: object.document, over: present) }
        return try put(object, over: present, in: bucket)
    }

    private func put(_ objects: [PutObject], in bucket: BucketName) throws -> [WriteResult] {
        func present(_ object: PutObject) throws -> PresentObject? {
            guard let id = object.id else { return nil }
            return try whole(id, in: bucket)
        }
        // Of many objects, each copy would count the references of all their parts.
        return try objects.withUnsafeBufferPointer { objects in
            let kept = try objects.indices.map { number in
                objects[number].ifNewer == nil
                    ? nil : try self.kept(present(objects[number]), from: objects[number])
            }
            let points = objects.indices.map {
                kept[$0] == nil ? objects[$0].document.points : []
            }
            try checkGeoFields(points, in: bucket) { "objects[\($0)]" }
            if let first = objects.first { try checkBuckets(of: first.owner, creating: bucket) }
            try checkQuota(of: bucket) {
                try objects.indices.filter { kept[$0] == nil }.reduce(ScopeUsage()) { sum, number in
                    let object = objects[number]
                    return sum + (try growth(by: object.document, over: present(object)))
                }
            }
            return try objects.indices.map { number in
                try kept[number]
                    ?? put(objects[number], over: present(objects[number]), in: bucket)
            }
        }
    }

    /// The result for the present object if `ifNewer` keeps it, because the object is at least as
    /// new as its replacement.
    private func kept(
        _ present: PresentObject?, from object: PutObject
    ) throws -> WriteResult? {
        guard let present, let field = object.ifNewer else { return nil }
        let isNewer = field.isGreater(
            in: try secondParser.parse(object.document.text),
            than: try parser.parse(present.document))
        return isNewer ? nil : WriteResult(present.metadata, isWritten: false)
    }

    private func put(
        _ object: PutObject, over present: PresentObject?, in bucket: BucketName
    ) throws -> WriteResult {
        if object.restored != nil { return try restore(object, over: present, in: bucket) }
        if let present {
            return try replace(present, object.document, expires: object.expires, in: bucket)
        }
        let metadata = ObjectMetadata(
            creating: object, as: object.id ?? freeID(in: bucket), at: now)
        try state.insert(metadata, object.document, in: bucket)
        return WriteResult(metadata)
    }

    private func restore(
        _ object: PutObject, over present: PresentObject?, in bucket: BucketName
    ) throws -> WriteResult {
        if let present { try state.delete([present.creation], in: bucket, at: now) }
        let metadata = ObjectMetadata(
            restoring: object, as: object.id ?? freeID(in: bucket), after: present?.metadata,
            at: now)
        try state.insert(metadata, object.document, in: bucket)
        return WriteResult(metadata)
    }

    private func patch(
        _ id: ObjectID, _ patch: [UInt8], _ version: Int64?, _ ifNewer: FieldPath?,
        _ expiry: Expiry, _ options: PatchOptions, in bucket: BucketName
    ) throws -> WriteResult {
        guard let present = try whole(id, in: bucket) else {
            throw ServiceFailure.noObject(id, in: bucket)
        }
        try present.metadata.check(isVersion: version)
        let merged = MergePatch.apply(
            try secondParser.parse(patch), to: try parser.parse(present.document),
            storingNulls: options.contains(.storesNulls))
        let view = try secondParser.parse(merged)
        let document = try WrittenDocument(view, at: "object", limits: limits)
        if let ifNewer, !ifNewer.isGreater(in: view, than: try parser.parse(present.document)) {
            return WriteResult(present.metadata, isWritten: false)
        }
        try checkGeoFields([document.points], in: bucket) { _ in "object" }
        try checkQuota(of: bucket) { try growth(by: document, over: present) }
        let result = try replace(
            present, document, expires: expiry.applied(to: present.metadata.expires), in: bucket)
        guard options.contains(.returnsObject) else { return result }
        return WriteResult(result.metadata, document: document.text)
    }

    private func replace(
        _ present: PresentObject, _ document: WrittenDocument, expires: Int64?,
        in bucket: BucketName
    ) throws -> WriteResult {
        let metadata = present.metadata.next(at: now, expires: expires)
        try state.replace(present, with: metadata, document, in: bucket)
        return WriteResult(metadata)
    }

    private func checkGeoFields(
        _ documents: [[FieldPoint]], in bucket: BucketName, at path: (Int) -> String
    ) throws(ServiceFailure) {
        try GeoFieldBudget(limit: limits.geoFields).check(
            documents, isKnown: { state.hasGeoPoints(at: $0, in: bucket) },
            count: state.geoFieldCount(of: bucket), at: path)
    }

    /// Rejects the first object of a bucket if its owner has created as many as may be.
    private func checkBuckets(of owner: String?, creating bucket: BucketName) throws {
        guard let owner, try !state.hasBucket(bucket) else { return }
        guard try state.bucketCount(by: owner) < limits.bucketsPerPrincipal else {
            throw ServiceFailure(
                .invalidInputData,
                "\(quoted(owner)) has made \(limits.bucketsPerPrincipal) buckets, as many as may be",
                at: "bucket")
        }
    }

    /// Rejects a write that would pass the quota of its bucket's scope.
    ///
    /// - Parameter growth: what it adds, besides the bucket. Asked only if there is a quota.
    private func checkQuota(of bucket: BucketName, adding growth: () throws -> ScopeUsage) throws {
        let scope = bucket.scope
        guard let quota = limits.quotas.quota(of: scope) else { return }
        // To look for what is there removes what has expired.
        var change = try growth()
        let present = try state.usage(of: scope)
        if change.objects > 0, try !state.hasBucket(bucket) { change.buckets = 1 }
        do throws(ServiceFailure) {
            try quota.check(present, adding: change, in: scope)
            limits.quotas.note(present + change, of: scope, quota, isRefused: false)
        } catch {
            limits.quotas.note(present, of: scope, quota, isRefused: true)
            throw error
        }
    }

    /// What a document adds to its scope in the place of a present object, or of none.
    private func growth(
        by document: WrittenDocument, over present: PresentObject?
    ) throws -> ScopeUsage {
        guard let present else { return ScopeUsage(objects: 1, bytes: document.text.count) }
        return ScopeUsage(bytes: document.text.count - (try state.documentBytes(of: present)))
    }

    /// An id that no object of the bucket has.
    private func freeID(in bucket: BucketName) -> ObjectID {
        while true {
            let id = newID(now)
            if !state.hasObject(id, in: bucket) { return id }
        }
    }

    // MARK: Deletions

    private func delete(_ creations: [ChangeNumber], in bucket: BucketName) throws -> Int {
        try state.delete(creations, in: bucket, at: now)
        return creations.count
    }

    /// The object to delete. It may be damaged, unless the request has a condition on it.
    private func deletable(
        _ id: ObjectID, in bucket: BucketName, version: Int64?
    ) throws -> ChangeNumber {
        guard let found = try present(id, in: bucket) else {
            throw ServiceFailure.noObject(id, in: bucket)
        }
        if case .damaged(let creation, _) = found, version == nil { return creation }
        let object = try found.whole()
        try object.metadata.check(isVersion: version)
        return object.creation
    }

    private func deleteBucket(_ bucket: BucketName) throws -> Int {
        guard try state.hasBucket(bucket) else { throw ServiceFailure.noBucket(bucket) }
        return try state.deleteBucket(bucket, at: now)
    }

    // MARK: Reading objects

    /// - Throws: the failure if the object is damaged.
    private func whole(_ id: ObjectID, in bucket: BucketName) throws -> PresentObject? {
        try present(id, in: bucket)?.whole()
    }

    /// The object with an id. An expired object is removed at once, so that its id is free.
    private func present(_ id: ObjectID, in bucket: BucketName) throws -> FoundObject? {
        let found = try state.find(id, in: bucket)
        guard case .whole(let object) = found, object.metadata.hasExpired(at: now) else {
            return found
        }
        try state.delete([object.creation], in: bucket, at: now)
        return nil
    }
}
