import BackendContract
import Objects
import Runtime

extension Engine {
    /// Searches for what a deletion deletes, or looks at what has been written since the last time.
    ///
    /// - Throws: `QUERY_TIMEOUT` if all searching takes longer than a query may.
    public func advance(
        _ deletion: inout FoundDeletion
    ) throws(ServiceFailure) -> FoundDeletion.Step {
        try deletion.advance(on: self)
    }

    /// A record of the writes to a bucket, for a deletion.
    public struct Recording: Sendable {
        let recording: BucketJobs.Recording?
    }

    /// Begins to record the writes to a bucket, when no background work on it is in progress. For the
    /// writer's thread, on which `begun` is called too.
    public func record(
        _ bucket: BucketName, _ begun: @escaping @Sendable (Recording) -> Void
    ) {
        jobs.record(bucket) { begun(Recording(recording: $0)) }
        jobs.beginRecordings(at: snapshot)
    }

    /// Makes the bucket that a deletion leaves, on the calling thread.
    public func advance(
        _ deletion: inout FoundDeletion, with recording: Recording
    ) throws(ServiceFailure) {
        try deletion.advance(with: recording.recording, on: self)
    }

    /// Brings a deletion to the present state, on the writer's thread.
    ///
    /// - Returns: false if so much has changed that it has to `advance` once more.
    public func settle(_ deletion: inout FoundDeletion) throws(ServiceFailure) -> Bool {
        try deletion.settle(on: self)
    }

    /// The number of objects from which a deletion is listed.
    public var deletedAtOnce: Int { tuning.deletedAtOnce }

    /// Ends what was begun for a deletion. It is called before the deletion is published, or instead.
    public func end(_ deletion: FoundDeletion) {
        if let recording = deletion.recording { end(recording) }
    }

    /// Removes the documents of deleted objects from memory.
    public func forgetDocuments(of creations: some Sequence<ChangeNumber>) {
        for creation in creations { cache.remove(creation: creation) }
    }

    func end(_ recording: BucketJobs.Recording) { jobs.end(recording) }

    func unapplied(
        _ recording: BucketJobs.Recording
    ) -> (written: BucketJobs.Written, state: BucketState)? { jobs.unapplied(recording) }

    func takeUnapplied(
        _ recording: BucketJobs.Recording
    ) -> (written: BucketJobs.Written, state: BucketState)? { jobs.takeUnapplied(recording) }

    /// - Throws: `QUERY_TIMEOUT` unless something was done in time.
    func inTime(_ isDone: Bool) throws(ServiceFailure) {
        guard isDone else {
            throw ServiceFailure(
                .queryTimeout, "the search took longer than \(limits.queryMilliseconds) ms")
        }
    }
}
