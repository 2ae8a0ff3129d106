import Objects
import QueryLanguage

/// One write as a client asked for it, its documents validated. It happens whole or not at all.
public enum Write: Sendable {
    /// Creates or replaces one whole object.
    case put(bucket: BucketName, object: PutObject, condition: WriteCondition)
    /// Creates or replaces many whole objects.
    case putMany(bucket: BucketName, objects: [PutObject])
    /// Merges a JSON Merge Patch (its text) into an object; with `ifNewer` only if the merged object's
    /// value of that field is greater than before.
    case patch(
        bucket: BucketName, id: ObjectID, patch: [UInt8], ifVersion: Int64?, ifNewer: FieldPath?,
        expiry: Expiry)
    case delete(bucket: BucketName, id: ObjectID, ifVersion: Int64?)
    case deleteBucket(BucketName)
    case deleteWhere(bucket: BucketName, clause: Clause)

    /// The bucket that it changes, the only one.
    public var bucket: BucketName {
        switch self {
        case .put(let bucket, _, _), .putMany(let bucket, _), .patch(let bucket, _, _, _, _, _),
            .delete(let bucket, _, _),
            .deleteBucket(let bucket), .deleteWhere(let bucket, _):
            bucket
        }
    }

    /// About what it takes in memory while it waits.
    public var memoryBytes: Int {
        let fixed = 256
        return switch self {
        case .put(_, let object, _): fixed + object.document.memoryBytes
        case .putMany(_, let objects):
            objects.reduce(fixed) { $0 + 128 + $1.document.memoryBytes }
        case .patch(_, _, let patch, _, _, _): fixed + patch.count
        case .delete, .deleteBucket, .deleteWhere: fixed
        }
    }
}

extension Write {
    /// The same, what it creates belonging to a principal.
    public func owned(by owner: String?) -> Write {
        guard let owner else { return self }
        switch self {
        case .put(let bucket, var object, let condition):
            object.owner = owner
            return .put(bucket: bucket, object: object, condition: condition)
        case .putMany(let bucket, var objects):
            for position in objects.indices { objects[position].owner = owner }
            return .putMany(bucket: bucket, objects: objects)
        case .patch, .delete, .deleteBucket, .deleteWhere: return self
        }
    }
}

/// A whole object to be created, or to replace the one that has its id.
public struct PutObject: Sendable {
    /// Nil: the backend makes a new UUID.
    public var id: ObjectID?
    /// What the client wrote, without the fields that the service adds.
    public var document: WrittenDocument
    /// Kept only when the object is created.
    public var owner: String?
    /// The `_dataType`; nil: none. Kept only when the object is created.
    public var dataType: String?
    /// Milliseconds since 1970 from which on the object is gone; nil: it stays.
    public var expires: Int64?
    /// Over an object that is there it is written only if its value of this field is greater, in the
    /// order of values.
    public var ifNewer: FieldPath?

    /// Stores its arguments.
    public init(
        id: ObjectID?, document: WrittenDocument, owner: String? = nil, dataType: String? = nil,
        expires: Int64? = nil, ifNewer: FieldPath? = nil
    ) {
        self.id = id
        self.document = document
        self.owner = owner
        self.dataType = dataType
        self.expires = expires
        self.ifNewer = ifNewer
    }
}

/// What a write that was done has come to.
public enum WriteAnswer: Sendable {
    /// The objects of a put or a patch, in the order of the write.
    case stored([WriteResult])
    /// How many objects a delete removed.
    case deleted(Int)
}

/// What a put or a patch leaves of an object.
public struct WriteResult: Sendable, Equatable {
    /// What the object has now.
    public let metadata: ObjectMetadata
    /// False where the object was at least as new as what was to be written (`ifNewer`).
    public let isWritten: Bool

    /// An object that was written, unless said otherwise.
    public init(_ metadata: ObjectMetadata, isWritten: Bool = true) {
        self.metadata = metadata
        self.isWritten = isWritten
    }
}

extension WrittenDocument {
    fileprivate var memoryBytes: Int { text.count + points.count * MemoryLayout<FieldPoint>.stride }
}
