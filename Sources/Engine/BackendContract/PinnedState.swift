import Geodesy
import JSONText
import Objects
import QueryLanguage

/// The state of all buckets at one change, for as long as somebody holds it.
///
/// What expires changes no state: it depends on the time at which a state is looked at. So every
/// question comes with a time, in milliseconds since 1970.
public protocol PinnedState: AnyObject, Sendable {
    /// The number of the last change that the state contains.
    var change: ChangeNumber { get }

    /// A bucket as a reader sees it at a time; nil if it does not exist.
    func bucket(_ name: BucketName, at time: Int64) -> (any PinnedBucket)?

    /// Finds the objects of a query, in its order. Its limit and its page key are ignored.
    ///
    /// - Parameters:
    ///   - count: the most objects that are found.
    ///   - stop: ends the search early, with a failure.
    func find(
        _ query: Query, in bucket: BucketName, at time: Int64, atMost count: Int,
        until stop: StopSignal?
    ) throws(ServiceFailure) -> any FoundObjects
}

/// A bucket of a pinned state at some time. Objects are known by the changes that created them.
public protocol PinnedBucket: AnyObject, Sendable {
    /// The object that a change created; nil if there is none, or if it has expired.
    func object(created creation: ChangeNumber) -> PinnedObject?

    /// The object with an id; nil if there is none, or if it has expired.
    func object(_ id: ObjectID) -> PinnedObject?

    /// The objects that have expired but have not been removed yet.
    var expired: [ChangeNumber] { get }

    /// When the next object expires, in milliseconds since 1970; nil if none does.
    var nextExpiry: Int64? { get }

    /// The first so many objects that were created or changed after a change and are there, in the
    /// order of creation.
    ///
    /// - Complexity: O(objects of the bucket / 256), and O(256) for each that has changed.
    func objects(changedAfter change: ChangeNumber, atMost most: Int) -> [PinnedObject]

    // What is asked of an object of this bucket.

    /// The id of an object.
    func id(of object: PinnedObject) -> ObjectID

    /// When an object expires, in milliseconds since 1970; `Int64.max` if it does not.
    func expiry(of object: PinnedObject) -> Int64

    /// The points of an object at a field path.
    func points(of object: PinnedObject, at field: FieldPath) -> [Coordinate]

    /// The document of an object, as clients read it at this state.
    func document(of object: PinnedObject) throws(ServiceFailure) -> [UInt8]
}

/// An object of a bucket of a pinned state.
public struct PinnedObject: Sendable {
    /// The bucket.
    public let bucket: any PinnedBucket
    /// The change that created the object.
    public let creation: ChangeNumber
    /// The object's latest change.
    public let change: ChangeNumber
    /// The place of the object in this state. It means nothing to other states.
    public let slot: UInt32

    /// Stores its arguments.
    public init(
        bucket: any PinnedBucket, creation: ChangeNumber, change: ChangeNumber, slot: UInt32
    ) {
        self.bucket = bucket
        self.creation = creation
        self.change = change
        self.slot = slot
    }

    /// The id.
    public var id: ObjectID { bucket.id(of: self) }

    /// When the object expires, in milliseconds since 1970; `Int64.max` if it does not.
    public var expiry: Int64 { bucket.expiry(of: self) }

    /// The points at a field path.
    public func points(at field: FieldPath) -> [Coordinate] { bucket.points(of: self, at: field) }

    /// The document, as clients read it.
    public func document() throws(ServiceFailure) -> [UInt8] { try bucket.document(of: self) }
}

/// What a query has found on a pinned state, in its order. It holds the state. One thread at a time
/// may write it.
public protocol FoundObjects: AnyObject, Sendable {
    /// The objects, by the changes that created them and their latest changes.
    var objects: [(creation: ChangeNumber, change: ChangeNumber)] { get }

    /// Whether more objects match than were asked for.
    var hasMore: Bool { get }

    /// Appends some of the objects as the query shows them, with commas between them.
    ///
    /// - Parameter maximumBytes: the most that they may occupy. One is appended even if it is
    ///   larger.
    /// - Returns: where each of those appended ends in the writer.
    func write(
        _ positions: Range<Int>, maximumBytes: Int, into writer: inout JSONWriter
    ) throws(ServiceFailure) -> [Int]
}
