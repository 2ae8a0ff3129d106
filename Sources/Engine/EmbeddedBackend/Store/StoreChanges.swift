import BackendContract
import Objects

/// What some transactions have changed in a store, as far as another store with the same history
/// has to know it. Of each object it holds the last state only.
public struct StoreChanges: Sendable {
    /// A row of the object table.
    public struct Object: Sendable {
        /// The change that created the object.
        public let creation: ChangeNumber
        /// The object's latest change.
        public let change: ChangeNumber
        /// The object's bucket.
        public let bucket: BucketName
        /// The predefined fields.
        public let metadata: ObjectMetadata
        /// The points, in the format of the store.
        public let points: [UInt8]
        /// The document without predefined fields.
        public let text: [UInt8]

        /// Stores its arguments.
        public init(
            creation: ChangeNumber, change: ChangeNumber, bucket: BucketName,
            metadata: ObjectMetadata,
            points: [UInt8], text: [UInt8]
        ) {
            self.creation = creation
            self.change = change
            self.bucket = bucket
            self.metadata = metadata
            self.points = points
            self.text = text
        }
    }

    /// A deleted object.
    public struct Tombstone: Sendable {
        /// The change that deleted the object.
        public let change: ChangeNumber
        /// The change that created the object.
        public let creation: ChangeNumber
        /// The name of the object's bucket.
        public let bucket: BucketName
        /// The object's id.
        public let id: ObjectID
        /// The time of the deletion, in milliseconds since 1970.
        public let deleted: Int64

        /// Stores its arguments.
        public init(
            change: ChangeNumber, creation: ChangeNumber, bucket: BucketName, id: ObjectID,
            deleted: Int64
        ) {
            self.change = change
            self.creation = creation
            self.bucket = bucket
            self.id = id
            self.deleted = deleted
        }
    }

    /// A bucket that was created, or that has another place.
    public struct Bucket: Sendable {
        /// The bucket's name.
        public let name: BucketName
        /// A change of the transaction that created it or changed its place.
        public let change: ChangeNumber
        /// The geo field that maps and collections show; nil if there is none.
        public var place: FieldPath?

        /// Stores its arguments.
        public init(name: BucketName, change: ChangeNumber, place: FieldPath? = nil) {
            self.name = name
            self.change = change
            self.place = place
        }
    }

    /// A field path at which GeoPoints were found for the first time.
    public struct Field: Sendable {
        /// The number by which the points of objects refer to it.
        public let number: Int64
        /// The path.
        public let path: FieldPath
        /// A change of the transaction that added it.
        public let change: ChangeNumber

        /// Stores its arguments.
        public init(number: Int64, path: FieldPath, change: ChangeNumber) {
            self.number = number
            self.path = path
            self.change = change
        }
    }

    /// A deleted bucket.
    public struct DeletedBucket: Sendable {
        /// The bucket's name.
        public let name: BucketName
        /// The change that deleted it.
        public let change: ChangeNumber

        /// Stores its arguments.
        public init(name: BucketName, change: ChangeNumber) {
            self.name = name
            self.change = change
        }
    }

    /// The number of the last change.
    public var change: ChangeNumber
    /// The objects that were deleted, in the order of their deletion.
    public var tombstones: [Tombstone] = []
    /// Deletions of many objects, the oldest first. An object may have a tombstone too.
    public var deletions: [ListedDeletion] = []
    /// The buckets that were deleted after their objects.
    public var deletedBuckets: [DeletedBucket] = []
    /// The buckets that were created, or that have another place, and still exist.
    public var buckets: [Bucket] = []
    /// The field paths at which GeoPoints were found for the first time.
    public var fields: [Field] = []
    /// The objects that were created or changed and still exist, in the order of creation.
    public var objects: [Object] = []

    /// No change after another one.
    public init(after change: ChangeNumber) { self.change = change }

    /// Whether there is nothing to do.
    public var isEmpty: Bool {
        tombstones.isEmpty && deletions.isEmpty && deletedBuckets.isEmpty && buckets.isEmpty
            && fields.isEmpty && objects.isEmpty
    }

    /// Leaves out what another store already has.
    ///
    /// - Parameter change: the last change that the store has.
    public func after(_ change: ChangeNumber) -> StoreChanges {
        var rest = self
        rest.tombstones.removeAll { $0.change <= change }
        rest.deletions.removeAll { $0.lastChange <= change }
        rest.deletedBuckets.removeAll { $0.change <= change }
        rest.buckets.removeAll { $0.change <= change }
        rest.fields.removeAll { $0.change <= change }
        rest.objects.removeAll { $0.change <= change }
        return rest
    }
}

/// Notes what one transaction changes.
final class StoreJournal {
    private(set) var changes: StoreChanges
    /// Where the objects stand in `changes` by the change that created them.
    private var positions: [ChangeNumber: Int] = [:]
    private var objects: [StoreChanges.Object?] = []
    private var buckets: [BucketName: StoreChanges.Bucket] = [:]

    init(after change: ChangeNumber) { changes = StoreChanges(after: change) }

    func note(_ object: StoreChanges.Object) {
        if let position = positions[object.creation] {
            objects[position] = object
        } else {
            positions[object.creation] = objects.count
            objects.append(object)
        }
    }

    func note(_ tombstone: StoreChanges.Tombstone) {
        if let position = positions.removeValue(forKey: tombstone.creation) {
            objects[position] = nil
        }
        changes.tombstones.append(tombstone)
    }

    /// Notes the deletion of objects that the transaction has not written before.
    func note(_ deletion: ListedDeletion) { changes.deletions.append(deletion) }

    /// Notes a bucket as it is now.
    func note(_ bucket: StoreChanges.Bucket) { buckets[bucket.name] = bucket }

    func note(_ bucket: StoreChanges.DeletedBucket) {
        buckets[bucket.name] = nil
        changes.deletedBuckets.append(bucket)
    }

    func note(_ field: StoreChanges.Field) { changes.fields.append(field) }

    /// Everything noted so far.
    func finish(at change: ChangeNumber) -> StoreChanges {
        var finished = changes
        finished.change = change
        finished.objects = objects.compactMap { $0 }
        finished.buckets = buckets.values.sorted { $0.change < $1.change }
        return finished
    }
}
