import CoreMetrics

/// What is measured of the store: transactions, the writes in each, what the
/// engine needs to take them on, and checkpoints.
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

    /// - Parameter start: when everything of the transaction had been written but its end.
    func synced(since start: ContinuousClock.Instant) { syncs.record(since: start) }

    /// - Parameter start: when the writer began to make a state visible, or to put background work in.
    func published(since start: ContinuousClock.Instant) { publications.record(since: start) }

    func checkpointed(since start: ContinuousClock.Instant) { checkpoints.record(since: start) }
}

extension Timer {
    fileprivate func record(since start: ContinuousClock.Instant) {
        let parts = (ContinuousClock.now - start).components
        recordNanoseconds(parts.seconds * 1_000_000_000 + parts.attoseconds / 1_000_000_000)
    }
}
