import Objects

/// Sees every state that becomes visible.
///
/// It is called on the writer's thread, and must return at once.
public protocol StateObserver: AnyObject, Sendable {
    /// The first state of a history: that of the moment at which the observation begins, and that
    /// after a rebuild.
    func begins(with state: any PinnedState, of history: any StoreHistory)

    /// A state follows the one before, after a step.
    func follows(_ state: any PinnedState, after step: any StateStep)
}

/// What was touched between two neighbouring states.
public protocol StateStep: Sendable {
    /// How often `forEachTouched` calls its body.
    var touchedCount: Int { get }

    /// Calls `body` for every object that was created, changed or deleted, perhaps several times.
    ///
    /// - Parameter body: gets the change that created the object and, if the object was deleted,
    ///   the change that deleted it.
    func forEachTouched(
        _ body: (BucketName, _ creation: ChangeNumber, _ deletion: ChangeNumber?) -> Void)

    /// Calls `body` for every write of an object of a bucket that had GeoPoints then, in order.
    func forEachPlaced(in bucket: BucketName, _ body: (ObjectID, [FieldPoint]) -> Void)
}

/// The history of changes that a store's states belong to.
public protocol StoreHistory: AnyObject, Sendable {
    /// Authenticates what clients are given to show again. It is the same after a restart.
    var secret: [UInt8] { get }

    /// Identifies a history that contains every change that is visible: 16 bytes. It may be another
    /// one with each state.
    var mark: [UInt8] { get }

    /// Whether the store's present state came about by a change, which was visible when the history
    /// had this mark. It did not if a backup has been restored since. Another machine may have to
    /// be asked.
    func contains(_ change: ChangeNumber, of mark: [UInt8]) -> Bool

    /// The objects of a bucket that were deleted after a change, in the order of their deletion;
    /// nil if some of these deletions have been forgotten.
    ///
    /// - Parameter count: the most that are read.
    func deletions(
        in bucket: BucketName, after change: ChangeNumber, atMost count: Int
    ) throws(ServiceFailure) -> [Deletion]?

    /// The present time, in milliseconds since 1970.
    func now() -> Int64
}

/// The deletion of an object.
public struct Deletion: Sendable, Equatable {
    /// The change that created the object.
    public let creation: ChangeNumber
    /// The change that deleted it.
    public let change: ChangeNumber
    /// The object's id.
    public let id: ObjectID

    /// Stores its arguments.
    public init(creation: ChangeNumber, change: ChangeNumber, id: ObjectID) {
        self.creation = creation
        self.change = change
        self.id = id
    }
}
