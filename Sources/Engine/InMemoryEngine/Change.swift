import BackendContract
import Objects

/// The effect of a durable write on one bucket. An engine derives its state from these changes.
enum Change: Sendable {
    /// Carries the object's own document as it is stored.
    case upsert(ObjectChange, text: [UInt8])
    /// Names the objects by the changes that created them, and each deletion by its change.
    case delete(bucket: BucketName, creations: [ChangeNumber], changes: [ChangeNumber])
    case deleteBucket(BucketName)

    var bucket: BucketName {
        switch self {
        case .upsert(let object, _): object.bucket
        case .delete(let bucket, _, _), .deleteBucket(let bucket): bucket
        }
    }
}

/// The new state of one object, without the document.
public struct ObjectChange: Sendable {
    /// The bucket that contains the object.
    public var bucket: BucketName
    /// The predefined fields after the change.
    public var metadata: ObjectMetadata
    /// The number of the change that created the object. It identifies the object in the store and
    /// determines its position in the order of creation.
    public var creation: ChangeNumber
    /// The number of this change.
    public var change: ChangeNumber
    /// The GeoPoints of the new document, those of one field path one after the other.
    public var points: [FieldPoint]

    /// An object's state after a change; `creation` and `change` are equal for a new object.
    public init(
        bucket: BucketName, metadata: ObjectMetadata, creation: ChangeNumber, change: ChangeNumber,
        points: [FieldPoint]
    ) {
        self.bucket = bucket
        self.metadata = metadata
        self.creation = creation
        self.change = change
        self.points = points
    }
}
