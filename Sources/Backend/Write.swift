import Objects
import QueryLanguage

/// One write as a client asked for it, its documents validated. It happens whole or not at all.
public enum Write: Sendable {
    /// Creates or replaces one whole object.
    case put(bucket: BucketName, object: PutObject, condition: WriteCondition)
    /// Creates or replaces many whole objects.
    case putMany(bucket: BucketName, objects: [PutObject])
    /// Merges a JSON Merge Patch (its text) into an object.
    case patch(bucket: BucketName, id: ObjectID, patch: [UInt8], ifVersion: Int64?)
    case delete(bucket: BucketName, id: ObjectID, ifVersion: Int64?)
    case deleteBucket(BucketName)
    case deleteWhere(bucket: BucketName, clause: Clause)

    public var bucket: BucketName {
        switch self {
        case .put(let bucket, _, _), .putMany(let bucket, _), .patch(let bucket, _, _, _),
            .delete(let bucket, _, _),
            .deleteBucket(let bucket), .deleteWhere(let bucket, _):
            bucket
        }
    }
}

public struct PutObject: Sendable {
    /// Nil: the backend makes a new UUID.
    public var id: ObjectID?
    public var document: WrittenDocument
    /// Kept only when the object is created.
    public var owner: String?
    public var dataType: String?

    public init(
        id: ObjectID?, document: WrittenDocument, owner: String? = nil, dataType: String? = nil
    ) {
        self.id = id
        self.document = document
        self.owner = owner
        self.dataType = dataType
    }
}

public enum WriteAnswer: Sendable {
    /// The objects of a put or a patch, in the order of the write.
    case stored([ObjectMetadata])
    /// How many objects a delete removed.
    case deleted(Int)
}
