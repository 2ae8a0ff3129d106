import CoreMetrics

/// The metrics of the store: transactions, the writes in each, the time that the engine needs to
/// publish them, and checkpoints.
struct StoreMetrics: Sendable {
    private let commits = Timer(label: "geobucket_commit_duration_seconds")
    private let syncs = Timer(label: "geobucket_sync_duration_seconds")
    private let publications = Timer(label: "geobucket_publish_duration_seconds")
    private let writes = Recorder(label: "geobucket_commit_writes")
    private let checkpoints = Timer(label: "geobucket_checkpoint_duration_seconds")

    func committed(_ count: Int, since start: ContinuousClock.Instant) {
        commits.record(since: start)
        writes.record(count)
    }

    /// - Parameter start: the time when the whole transaction except its commit had been written.
    func synced(since start: ContinuousClock.Instant) { syncs.record(since: start) }

    /// - Parameter start: the time when the writer began to publish a state or to install
    ///   background work.
    func published(since start: ContinuousClock.Instant) { publications.record(since: start) }

    func checkpointed(since start: ContinuousClock.Instant) { checkpoints.record(since: start) }
}

extension Timer {
    fileprivate func record(since start: ContinuousClock.Instant) {
        let parts = (ContinuousClock.now - start).components
        recordNanoseconds(parts.seconds * 1_000_000_000 + parts.attoseconds / 1_000_000_000)
    }
}
