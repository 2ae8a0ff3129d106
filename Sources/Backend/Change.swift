import Objects

/// The store-wide, increasing number of a change.
public typealias ChangeNumber = UInt64

/// What a durable write did to one bucket: what an engine derives its state from.
public enum Change: Sendable {
    /// With the document as clients read it.
    case upsert(ObjectChange, document: [UInt8])
    /// Objects by the changes that created them.
    case delete(bucket: BucketName, creations: [ChangeNumber])
    case deleteBucket(BucketName)

    public var bucket: BucketName {
        switch self {
        case .upsert(let object, _): object.bucket
        case .delete(let bucket, _), .deleteBucket(let bucket): bucket
        }
    }
}

/// The new state of one object, without its document.
public struct ObjectChange: Sendable {
    public var bucket: BucketName
    public var id: ObjectID
    /// The number of the change that created the object: its name in the store, and its place in
    /// the order of creation.
    public var creation: ChangeNumber
    /// The number of this change.
    public var change: ChangeNumber
    public var points: [FieldPoint]
    /// Milliseconds since 1970 from which on the object is gone; nil: it stays.
    public var expires: Int64?

    public init(
        bucket: BucketName, id: ObjectID, creation: ChangeNumber, change: ChangeNumber,
        points: [FieldPoint], expires: Int64? = nil
    ) {
        self.bucket = bucket
        self.id = id
        self.creation = creation
        self.change = change
        self.points = points
        self.expires = expires
    }
}
