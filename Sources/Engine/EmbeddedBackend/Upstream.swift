import BackendContract
import Objects
import QueryLanguage

/// The truth that several stores share. A store that has an upstream holds a copy of it: every
/// transaction is decided there before it takes effect here.
///
/// The writer's thread calls it.
public protocol Upstream: Sendable {
    /// Identifies a history that contains every change that is visible in this store: 16 bytes. As
    /// long as the first 8 are the same, a number means the same change to all stores, unless the
    /// upstream has lost changes and nobody has noticed.
    var history: [UInt8] { get }

    /// Whether the upstream has a change of a history that some store had. Any thread calls it.
    func contains(_ change: ChangeNumber, of history: [UInt8]) -> Bool

    /// Begins a transaction that excludes those of all other stores.
    ///
    /// - Parameters:
    ///   - change: the last change that this store has.
    ///   - keys: the request keys that will probably be looked up.
    /// - Throws: `StoreFailure.behind` if so much has been changed that others would wait long for
    ///   its fetching. Then `whenCaughtUp` tells when to try again.
    func begin(
        after change: ChangeNumber, keys: [String]
    ) throws(StoreFailure) -> any UpstreamTransaction

    /// Calls back when this store has got the changes for want of which a transaction could not
    /// begin, or with a failure when that takes too long.
    func whenCaughtUp(_ ready: @escaping @Sendable (StoreFailure?) -> Void)

    /// Why this store must not judge writes to a bucket; nil if it may.
    func refusal(of bucket: BucketName) -> ServiceFailure?

    /// Identifies the stay of a bucket in this store, if it may leave and come back. Changes after a
    /// number are complete within one stay only.
    func stay(of bucket: BucketName) -> Int?

    /// Called before a state of the upstream becomes visible in this store.
    func publishing(_ state: SharedState)

    /// Called when a state has become visible in this store.
    func published(_ changes: SharedChanges)

    /// Tells other stores, as far as that is possible at once, of a deletion of many objects that satisfy
    /// a clause, a while before it is done.
    func announce(deletionOf clause: Clause, in bucket: BucketName)

    /// Removes some rows of objects that are deleted by lists, and the lists whose rows are gone.
    ///
    /// - Returns: whether there may be more of them.
    func removeListedRows() throws(StoreFailure) -> Bool

    /// Deletes some tombstones and requests that are older than two times, in milliseconds since
    /// 1970.
    ///
    /// - Returns: whether there may be more of them.
    func forget(tombstonesBefore: Int64, requestsBefore: Int64) throws(StoreFailure) -> Bool
}

extension Upstream {
    /// Nil: the store is a copy of everything.
    public func refusal(of bucket: BucketName) -> ServiceFailure? { nil }

    /// Nil: no bucket leaves.
    public func stay(of bucket: BucketName) -> Int? { nil }
}

/// A transaction of an upstream. It also keeps the writes that were done under a key.
public protocol UpstreamTransaction: RequestLedger {
    /// What other stores have changed before the transaction began.
    var missed: SharedChanges { get }

    /// Whether the transaction is durable, whatever happens to this store.
    var isCommitted: Bool { get }

    /// Makes changes durable, and says which state they lead to.
    ///
    /// - Throws: `StoreFailure.interrupted` if nothing was done and the transaction may be repeated.
    func commit(_ changes: StoreChanges) throws(StoreFailure) -> SharedState

    /// Ends the transaction without a change.
    func cancel()
}

/// A state of an upstream.
public struct SharedState: Sendable, Equatable {
    /// The number of its last change.
    public let change: ChangeNumber
    /// Identifies the history that led to it. At most some dozen bytes, never empty.
    public let mark: [UInt8]

    /// Stores its arguments.
    public init(change: ChangeNumber, mark: [UInt8]) {
        self.change = change
        self.mark = mark
    }
}

/// The changes that lead to a state of an upstream.
public struct SharedChanges: Sendable {
    /// The state after the changes.
    public let state: SharedState
    /// The changes.
    public let changes: StoreChanges

    /// Stores its arguments.
    public init(to state: SharedState, by changes: StoreChanges) {
        self.state = state
        self.changes = changes
    }
}

extension SharedState {
    /// The name under which a store keeps the mark of its state.
    public static let setting = "shared state"
}
