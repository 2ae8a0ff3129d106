import Objects
import QueryLanguage

/// The state of the buckets within one transaction, and the operations on it. This is all that a
/// backend implements for the write rules: it reads and stores, and makes no decisions.
///
/// Any error that it throws fails the whole transaction, except a `ServiceFailure`, which rejects
/// the write.
public protocol TransactionState: AnyObject {
    /// The writes that were done under a key.
    var requests: any RequestLedger { get }

    // MARK: Reading the state

    /// The object with an id, even if it has expired.
    func find(_ id: ObjectID, in bucket: BucketName) throws -> FoundObject?

    /// Whether an object has an id, even if the object has expired. The object is not read.
    func hasObject(_ id: ObjectID, in bucket: BucketName) -> Bool

    /// Whether a bucket exists, with or without objects.
    func hasBucket(_ bucket: BucketName) throws -> Bool

    /// The number of buckets that a principal has created. Asked only when another is about to be.
    func bucketCount(by owner: String) throws -> Int

    /// What the buckets of a scope hold together. Asked only if it has a quota.
    func usage(of scope: BucketScope) throws -> ScopeUsage

    /// The bytes of a present object that count for a quota. Asked only if its scope has one.
    func documentBytes(of present: PresentObject) throws -> Int

    /// The changes that created the objects that satisfy a clause and have not expired, in
    /// ascending order.
    func objects(satisfying clause: Clause, in bucket: BucketName) throws -> [ChangeNumber]

    /// Some objects that have expired at a time, in the order of their expiry and creation.
    ///
    /// - Parameter last: the object that they follow; nil begins with the first.
    func expired(
        at now: Int64, after last: ExpiredObject?, atMost count: Int
    ) throws -> [ExpiredObject]

    /// Whether an object that seems to have expired may be removed: that is certain, and for this
    /// store to decide.
    func mayRemove(_ expired: ExpiredObject) throws -> Bool

    /// Whether any object of a bucket has a GeoPoint at a field path. False if the bucket does not
    /// exist.
    func hasGeoPoints(at field: FieldPath, in bucket: BucketName) -> Bool

    /// The number of field paths of a bucket that hold GeoPoints.
    func geoFieldCount(of bucket: BucketName) -> Int

    // MARK: Changing the state

    /// Creates an object, and its bucket if the bucket does not exist.
    func insert(
        _ metadata: ObjectMetadata, _ document: WrittenDocument, in bucket: BucketName) throws

    /// Replaces the metadata and the document of a present object. The change that created it stays
    /// the same.
    func replace(
        _ present: PresentObject, with metadata: ObjectMetadata, _ document: WrittenDocument,
        in bucket: BucketName) throws

    /// Deletes objects by the changes that created them.
    func delete(_ creations: [ChangeNumber], in bucket: BucketName, at now: Int64) throws

    /// Deletes a bucket with its objects.
    ///
    /// - Returns: the number of objects that had not expired.
    func deleteBucket(_ bucket: BucketName, at now: Int64) throws -> Int
}

/// An object that its store lists as expired.
public struct ExpiredObject: Sendable, Equatable {
    /// The object's bucket.
    public let bucket: BucketName
    /// The change that created the object.
    public let creation: ChangeNumber
    /// The time at which it expires, in milliseconds since 1970.
    public let time: Int64

    /// Stores its arguments.
    public init(bucket: BucketName, creation: ChangeNumber, time: Int64) {
        (self.bucket, self.creation, self.time) = (bucket, creation, time)
    }
}
