import Objects
import QueryLanguage

/// One write as a client requested it, with validated documents. It is atomic.
public enum Write: Sendable {
    /// Creates or replaces one whole object.
    case put(bucket: BucketName, object: PutObject, condition: WriteCondition)
    /// Creates or replaces many whole objects.
    case putMany(bucket: BucketName, objects: [PutObject])
    /// Merges a JSON Merge Patch, given as text, into an object. With `ifNewer` it does so only if
    /// the merged object has a greater value of that field than before.
    case patch(
        bucket: BucketName, id: ObjectID, patch: [UInt8], ifVersion: Int64?, ifNewer: FieldPath?,
        expiry: Expiry, options: PatchOptions = [])
    /// Deletes one object. With `ifVersion` it does so only if that is its version.
    case delete(bucket: BucketName, id: ObjectID, ifVersion: Int64?)
    /// Deletes a bucket with all its objects.
    case deleteBucket(BucketName)
    /// Deletes the objects that satisfy a clause. The bucket stays, even if empty.
    case deleteWhere(bucket: BucketName, clause: Clause)

    /// The bucket that the write changes. A write changes no other.
    public var bucket: BucketName {
        switch self {
        case .put(let bucket, _, _), .putMany(let bucket, _), .patch(let bucket, _, _, _, _, _, _),
            .delete(let bucket, _, _),
            .deleteBucket(let bucket), .deleteWhere(let bucket, _):
            bucket
        }
    }

    /// Whether the write searches before it takes its turn. Writes that are submitted after it may
    /// take effect before it.
    public var searches: Bool { if case .deleteWhere = self { true } else { false } }

    /// Whether it sets what only the service sets otherwise.
    public var restoresMetadata: Bool {
        guard case .putMany(_, let objects) = self else { return false }
        return objects.first?.restored != nil
    }

    /// The approximate memory that the write occupies while it waits.
    public var memoryBytes: Int {
        let fixed = 256
        return switch self {
        case .put(_, let object, _): fixed + object.document.memoryBytes
        case .putMany(_, let objects):
            objects.reduce(fixed) { $0 + 128 + $1.document.memoryBytes }
        case .patch(_, _, let patch, _, _, _, _): fixed + patch.count
        case .delete, .deleteBucket, .deleteWhere: fixed
        }
    }
}

extension Write {
    /// The same write, with a principal as the owner of the objects that it creates.
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

/// How a patch is done and answered.
public struct PatchOptions: OptionSet, Sendable, Hashable {
    /// The sum of the options.
    public let rawValue: UInt8

    /// The options of a sum.
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// A null in the patch is stored. Without this it removes the member.
    public static let storesNulls = PatchOptions(rawValue: 1)
    /// The result has the merged object's document.
    public static let returnsObject = PatchOptions(rawValue: 2)
}

/// A whole object to create, or to put in place of the object with the same id.
public struct PutObject: Sendable {
    /// The id; nil if the backend has to make a new UUID.
    public var id: ObjectID?
    /// The document that the client wrote, without the fields that the service adds.
    public var document: WrittenDocument
    /// The owner, stored only when the object is created.
    public var owner: String?
    /// The `_dataType`, stored only when the object is created; nil if there is none.
    public var dataType: String?
    /// The time at which the object expires, in milliseconds since 1970; nil if it never expires.
    public var expires: Int64?
    /// If the object exists, it is replaced only if the new document has a greater value of this
    /// field, in the order of values.
    public var ifNewer: FieldPath?
    /// What the object had elsewhere; nil for an object that the write makes or changes. An object in
    /// its place is deleted.
    public var restored: RestoredMetadata?

    /// Stores its arguments. Nothing is restored.
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

/// The result of a write that was done.
public enum WriteAnswer: Sendable {
    /// The objects of a put or a patch, in the order in which the write names them.
    case stored([WriteResult])
    /// The number of objects that a delete removed.
    case deleted(Int)
}

/// The result of a put or a patch for one object.
public struct WriteResult: Sendable, Equatable {
    /// The object's metadata after the write.
    public let metadata: ObjectMetadata
    /// False if `ifNewer` found that the stored object was at least as new.
    public let isWritten: Bool
    /// The stored document after the write; nil unless it was asked for.
    public let document: [UInt8]?

    /// The result for an object that was written, unless `isWritten` is false.
    public init(_ metadata: ObjectMetadata, isWritten: Bool = true, document: [UInt8]? = nil) {
        self.metadata = metadata
        self.isWritten = isWritten
        self.document = document
    }
}

extension WrittenDocument {
    fileprivate var memoryBytes: Int { text.count + points.count * MemoryLayout<FieldPoint>.stride }
}
