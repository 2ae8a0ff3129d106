import JSONText
import Objects

/// The interface between an engine and the service. The layers above know nothing else of an
/// engine.
///
/// A read sees one state from beginning to end. That state contains every write that was answered
/// before the read was prepared. Reads are prepared, and run, on the caller's thread. A write is
/// durable and visible before its completion is called. The writes of one owner take effect in the
/// order in which they were submitted, and their completions are called in that order. A write that
/// `searches` is an exception, so that no other waits for its search: whoever needs an order submits
/// it when the writes before it are answered, and those behind it when it is.
public protocol Backend: Sendable {
    /// The name of the store in `server.info`.
    var storeName: String { get }

    /// Whether reads may begin now without asking `mayRead`, unless they have to see a certain change.
    var readsAtOnce: Bool { get }

    /// What answers to writes give as the number of the last change, for reads elsewhere; nil if
    /// they give none. Every write that has been answered is visible at it.
    var answeredChange: ChangeNumber? { get }

    /// Whether the backend can answer now; if not, a load balancer should send requests elsewhere.
    var isReady: Bool { get }

    /// Which nodes hold which buckets; nil if this one has all of them.
    var placement: (any BucketPlacement)? { get }

    /// Whether some reads may begin now.
    ///
    /// - Parameters:
    ///   - count: the number of reads.
    ///   - change: they have to see this change; nil if they have to see what was answered before.
    ///   - ready: if the result is false, called once when they may begin, on a thread of the
    ///     backend's choice; with the reason if they may not.
    func mayRead(
        _ count: Int, atLeast change: ChangeNumber?,
        _ ready: @escaping @Sendable (ServiceFailure?) -> Void
    ) -> Bool

    /// Calls `ready` once, on a thread of the backend's choice, when the backend has everything that
    /// was answered before the call, wherever that was; with the reason if it cannot tell.
    func awaitLatest(_ ready: @escaping @Sendable (ServiceFailure?) -> Void)

    /// Which state reads see, if they have to ask `mayRead`; nil if they may begin at once.
    var readStates: ReadStates? { get }

    /// Checks and plans a read.
    ///
    /// A page may find its matches here if that is cheap, so that it knows which of its documents
    /// are not in memory.
    ///
    /// - Throws: the failure that describes what is wrong with the request.
    func prepare(_ request: consuming ReadRequest) throws(ServiceFailure) -> any PreparedRead

    /// Appends a whole object as clients read it. It needs no preparation because it is cheap.
    func get(
        _ id: ObjectID, in bucket: BucketName, into writer: inout JSONWriter
    ) throws(ServiceFailure)

    /// Holds the present state of a bucket so that it can be read piece by piece.
    ///
    /// - Throws: `TOO_MANY_REQUESTS` when too many states are already held.
    func export(_ bucket: BucketName) throws(ServiceFailure) -> any BucketExport

    /// Queues a write. The completion is called once, on a thread of the backend's choice.
    ///
    /// - Parameters:
    ///   - key: if a write has been done under this key within the last 24 hours, it is not done
    ///     again, and its answer is that of the first one.
    ///   - owner: the principal that submits the write. Owners share the writer by the bytes of
    ///     their writes.
    func submit(
        _ write: Write, key: RequestKey?, by owner: String,
        completion: @escaping @Sendable (Result<WriteAnswer, ServiceFailure>) -> Void)

    /// Begins to tell an observer of every state that becomes visible, beginning with the present
    /// one. There is one observer at a time.
    func observe(_ observer: any StateObserver)

    /// Ends what `observe` began. The observer may still be told of the state that is being
    /// published.
    func endObservation()

    /// Counts and sizes of the present state; cheap enough to ask for often.
    func statistics() -> BackendStatistics

    /// Compares the stored data with everything that is derived from it, at one state, while writes
    /// continue.
    ///
    /// - Parameter stop: ends the check early. The report is then incomplete.
    func check(until stop: StopSignal?) throws(ServiceFailure) -> CheckReport

    /// Holds the present state of the store so that it can be copied piece by piece while writes
    /// continue.
    func backup() throws(ServiceFailure) -> any StoreBackup

    /// Gives pages of the store back to the file system that hold nothing, while reads and writes
    /// continue; call it until there are none.
    ///
    /// - Parameter time: about how long one call may take.
    func compact(
        for time: Duration, until stop: StopSignal?
    ) throws(ServiceFailure) -> CompactionState
}

extension Backend {
    /// - Throws: always `OPERATION_NOT_ALLOWED`: there is no file.
    public func compact(
        for time: Duration, until stop: StopSignal?
    ) throws(ServiceFailure) -> CompactionState {
        throw ServiceFailure(.notAllowed, "there is no file to compact")
    }

    /// Queues a write that has no key and no owner.
    public func submit(
        _ write: Write,
        completion: @escaping @Sendable (Result<WriteAnswer, ServiceFailure>) -> Void
    ) {
        submit(write, key: nil, by: "", completion: completion)
    }
}
