import Objects
import Runtime
import SpatialIndex
import Synchronization

/// Runs merges in the background: merges of large tiers, and merges of all tiers of an index that
/// has had no writes for a while.
final class BackgroundMerges: Sendable {
    struct Finished {
        let bucket: BucketName
        let field: FieldPath
        let tier: MergedTier
    }

    private struct IndexKey: Hashable {
        let bucket: BucketName
        let field: FieldPath
    }

    private struct Scattered: Equatable {
        let epoch: UInt32
        /// The time when the index was first seen in this epoch. Little has been written since
        /// then.
        let since: MonotonicTime
    }

    private struct State {
        var running: Set<IndexKey> = []
        /// The indexes that would benefit from a merge of all tiers.
        var scattered: [IndexKey: Scattered] = [:]
        var finished: [Finished] = []
    }

    private let state = Mutex(State())
    private let thread = WorkThread("merges", .background)
    private let ready: @Sendable () -> Void
    /// The shortest time without writes after which an index counts as at rest.
    private let rest: Duration
    private let clock: ServiceClock

    init(rest: Duration, clock: ServiceClock, ready: @escaping @Sendable () -> Void) {
        self.rest = rest
        self.clock = clock
        self.ready = ready
    }

    /// Starts the merge that is due for an index that has just been written.
    func start(_ index: PointIndex, field: FieldPath, bucket: BucketName) {
        let indexKey = IndexKey(bucket: bucket, field: field)
        state.withLock { state in
            if index.wholeMerge() == nil {
                state.scattered[indexKey] = nil
            } else if state.scattered[indexKey]?.epoch != index.epoch {
                state.scattered[indexKey] = Scattered(epoch: index.epoch, since: clock.now)
            }
        }
        if let job = index.pendingMerge() { run(job, for: indexKey) }
    }

    /// The time per point with hardly any writes after which an index is merged. It is about twenty
    /// times the duration of the merge, so that occasional writes cost little more.
    private static let restForPoint = Duration.microseconds(5)

    /// Starts a merge of all tiers for each index that is at rest.
    ///
    /// - Parameter index: returns the present state of an index.
    func startAtRest(_ index: (BucketName, FieldPath) -> PointIndex?) {
        let now = clock.now
        for (indexKey, seen) in state.withLock({ $0.scattered }) {
            let job = index(indexKey.bucket, indexKey.field)?.wholeMerge()
            let rest = max(rest, Self.restForPoint * (job?.entryCount ?? 0))
            guard seen.since.duration(to: now) >= rest else { continue }
            state.withLock { state in
                // Keeps the entry if the index has been written since.
                if state.scattered[indexKey] == seen { state.scattered[indexKey] = nil }
            }
            if let job { run(job, for: indexKey) }
        }
    }

    /// Runs a merge, unless a merge of the same index is in progress.
    private func run(_ job: MergeJob, for indexKey: IndexKey) {
        guard state.withLock({ $0.running.insert(indexKey).inserted }) else { return }
        thread.async { [self] in
            let merged = job.run()
            state.withLock {
                $0.finished.append(
                    Finished(bucket: indexKey.bucket, field: indexKey.field, tier: merged))
            }
            ready()
        }
    }

    /// The merges that have finished since the last call.
    func finished() -> [Finished] {
        state.withLock { state in
            defer { state.finished.removeAll() }
            for merge in state.finished {
                state.running.remove(IndexKey(bucket: merge.bucket, field: merge.field))
            }
            return state.finished
        }
    }
}
