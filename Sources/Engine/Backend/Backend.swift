import JSONText
import Objects

/// What an engine does for the service: the only interface that the layers above know.
///
/// Reads see one state from beginning to end, and it holds every write that was answered before
/// they were prepared. They are prepared, and run, on the caller's thread. A write is durable and
/// visible before its completion is called; the writes of one owner take effect, and their
/// completions are called, in the order in which they were submitted.
public protocol Backend: Sendable {
    /// What `server.info` calls the store.
    var storeName: String { get }

    /// Checks and plans a read.
    ///
    /// What is cheap may be found at once, so that a page knows which of its documents are not in
    /// memory.
    ///
    /// - Throws: what is wrong with the request.
    func prepare(_ request: consuming ReadRequest) throws(ServiceFailure) -> any PreparedRead

    /// Appends an object, whole, as clients read it. There is nothing to prepare: it is cheap.
    func get(
        _ id: ObjectID, in bucket: BucketName, into writer: inout JSONWriter
    ) throws(ServiceFailure)

    /// Holds the present state of a bucket, to be read piece by piece.
    ///
    /// - Throws: `TOO_MANY_REQUESTS` where no more states can be held.
    func export(_ bucket: BucketName) throws(ServiceFailure) -> any BucketExport

    /// Queues a write; the completion is called once, on a thread of the backend's choice.
    ///
    /// - Parameters:
    ///   - key: where the write has been done under this key within the last 24 hours, it is not done
    ///     again, and its answer is the first one's.
    ///   - owner: who wants it; the writes of several owners take turns.
    func submit(
        _ write: Write, key: RequestKey?, by owner: String,
        completion: @escaping @Sendable (Result<WriteAnswer, ServiceFailure>) -> Void)

    func statistics() -> BackendStatistics

    /// Compares what is stored with everything that is derived from it, at one state; writes go on.
    ///
    /// - Parameter stop: what ends it soon; the report is not whole then.
    func check(until stop: StopSignal?) throws(ServiceFailure) -> CheckReport

    /// Holds the present state of the store, to be copied piece by piece; writes go on.
    func backup() throws(ServiceFailure) -> any StoreBackup
}

extension Backend {
    /// Queues a write that has no key, for nobody in particular.
    public func submit(
        _ write: Write,
        completion: @escaping @Sendable (Result<WriteAnswer, ServiceFailure>) -> Void
    ) {
        submit(write, key: nil, by: "", completion: completion)
    }
}
