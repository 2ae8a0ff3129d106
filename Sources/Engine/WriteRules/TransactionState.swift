import Backend
import Objects
import QueryLanguage

/// The buckets as one transaction has left them so far, and what can be done to them: all that a
/// back end does for the rules. It fetches and stores, and decides nothing.
///
/// What it throws fails the whole transaction, but for a `ServiceFailure`, which refuses the write.
public protocol TransactionState: AnyObject {
    associatedtype Requests: RequestLedger

    /// The writes that were done under a key.
    var requests: Requests { get }

    // MARK: What is there

    /// The object that has an id, one that has expired too.
    func find(_ id: ObjectID, in bucket: BucketName) throws -> FoundObject?

    /// Whether an object has an id, one that has expired too; told without reading it.
    func hasObject(_ id: ObjectID, in bucket: BucketName) -> Bool

    func hasBucket(_ bucket: BucketName) throws -> Bool

    /// The changes that created the objects of a bucket, of those that have expired too, in their
    /// order.
    func creations(in bucket: BucketName) -> [ChangeNumber]

    /// The changes that created the objects that satisfy a clause and have not expired, in their order.
    func objects(satisfying clause: Clause, in bucket: BucketName) throws -> [ChangeNumber]

    /// Some objects that have expired at a time and are whole, first those that did first.
    func expired(
        at now: Int64, atMost count: Int
    ) throws -> [(bucket: BucketName, creation: ChangeNumber)]

    /// How many objects of a bucket have expired at a time and are still there.
    func expiredCount(in bucket: BucketName, at now: Int64) throws -> Int

    func hasGeoPoints(at field: FieldPath, in bucket: BucketName) -> Bool

    /// How many field paths of a bucket hold GeoPoints.
    func geoFieldCount(of bucket: BucketName) -> Int

    // MARK: What is done

    /// Creates an object, and its bucket where there is none.
    func insert(
        _ metadata: ObjectMetadata, _ document: WrittenDocument, in bucket: BucketName) throws

    func replace(
        _ present: PresentObject, with metadata: ObjectMetadata, _ document: WrittenDocument,
        in bucket: BucketName) throws

    /// Deletes objects by the changes that created them.
    func delete(_ creations: [ChangeNumber], in bucket: BucketName, at now: Int64) throws

    /// Deletes a bucket whose objects have been deleted.
    func deleteBucket(_ bucket: BucketName) throws
}
