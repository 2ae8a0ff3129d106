import Objects
import Runtime
import SpatialIndex
import Synchronization

/// Merges of large tiers, run in the background; and of all tiers of an index that writes have left
/// in peace for a while.
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
        /// When it was first seen in this epoch: since then little has been written.
        let since: ContinuousClock.Instant
    }

    private struct State {
        var running: Set<IndexKey> = []
        /// Indexes that a merge of all tiers would do good.
        var scattered: [IndexKey: Scattered] = [:]
        var finished: [Finished] = []
    }

    private let state = Mutex(State())
    private let thread = WorkThread("merges", .background)
    private let ready: @Sendable () -> Void
    /// The shortest time after which an index counts as at rest.
    private let rest: Duration

    init(rest: Duration, ready: @escaping @Sendable () -> Void) {
        self.rest = rest
        self.ready = ready
    }

    /// Starts the merge that an index, just written, is due.
    func start(_ index: PointIndex, field: FieldPath, bucket: BucketName) {
        let indexKey = IndexKey(bucket: bucket, field: field)
        state.withLock { state in
            if index.wholeMerge() == nil {
                state.scattered[indexKey] = nil
            } else if state.scattered[indexKey]?.epoch != index.epoch {
                state.scattered[indexKey] = Scattered(epoch: index.epoch, since: .now)
            }
        }
        if let job = index.pendingMerge() { run(job, for: indexKey) }
    }

    /// An index at rest is merged when hardly any of its points has been written for this long: some
    /// twenty times what the merge takes, so that writes now and then cost little more.
    private static let restForPoint = Duration.microseconds(5)

    /// Starts the merges of all tiers of the indexes that are at rest at some instant.
    ///
    /// - Parameter index: tells the present state of an index.
    func startAtRest(
        _ now: ContinuousClock.Instant, _ index: (BucketName, FieldPath) -> PointIndex?
    ) {
        for (indexKey, seen) in state.withLock({ $0.scattered }) {
            let job = index(indexKey.bucket, indexKey.field)?.wholeMerge()
            let rest = max(rest, Self.restForPoint * (job?.entryCount ?? 0))
            guard now - seen.since >= rest else { continue }
            state.withLock { state in
                // Unless it has been written since.
                if state.scattered[indexKey] == seen { state.scattered[indexKey] = nil }
            }
            if let job { run(job, for: indexKey) }
        }
    }

    /// Runs a merge, unless one of the same index is under way.
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
