import CoreMetrics
import Runtime

/// The metrics of the store: transactions, the writes in each, the time that the engine needs to
/// publish them, and checkpoints.
struct StoreMetrics: Sendable {
    private let clock: ServiceClock
    private let commits = Timer(label: "geobucket_commit_duration_seconds")
    private let syncs = Timer(label: "geobucket_sync_duration_seconds")
    private let publications = Timer(label: "geobucket_publish_duration_seconds")
    private let writes = Recorder(label: "geobucket_commit_writes")
    private let turns = Timer(
        label: "geobucket_turn_processor_seconds", dimensions: [("thread", "writer")])
    private let checkpoints = Timer(label: "geobucket_checkpoint_duration_seconds")

    init(clock: ServiceClock) { self.clock = clock }

    func committed(_ count: Int, since start: MonotonicTime) {
        record(start, in: commits)
        writes.record(count)
    }

    /// - Parameter start: the time when the whole transaction except its commit had been written.
    func synced(since start: MonotonicTime) { record(start, in: syncs) }

    /// - Parameter start: the time when the writer began to publish a state or to install
    ///   background work.
    func published(since start: MonotonicTime) { record(start, in: publications) }

    /// - Parameter time: the processor time of one turn of the writer's thread.
    func turned(_ time: Duration) { turns.recordNanoseconds(time.nanoseconds) }

    func checkpointed(since start: MonotonicTime) { record(start, in: checkpoints) }

    private func record(_ start: MonotonicTime, in timer: Timer) {
        timer.recordNanoseconds(clock.nanoseconds() - start.nanoseconds)
    }
}
