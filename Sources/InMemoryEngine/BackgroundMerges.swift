import Dispatch
import Objects
import SpatialIndex
import Synchronization

/// Merges of large tiers, run beside the writer; and of all tiers of an index that writes have left
/// in peace for a while.
final class BackgroundMerges: Sendable {
    struct Finished {
        let bucket: BucketName
        let field: FieldPath
        let tier: MergedTier
    }

    private struct Place: Hashable {
        let bucket: BucketName
        let field: FieldPath
    }

    private struct State {
        var running: Set<Place> = []
        /// When indexes that a merge of all tiers would do good were last written.
        var scattered: [Place: ContinuousClock.Instant] = [:]
        var finished: [Finished] = []
    }

    private let state = Mutex(State())
    private let queue = DispatchQueue(label: "geobucket.merge", qos: .utility)
    private let ready: @Sendable () -> Void

    init(ready: @escaping @Sendable () -> Void) { self.ready = ready }

    /// Starts the merge that an index, just written, is due.
    func start(_ index: PointIndex, field: FieldPath, bucket: BucketName) {
        let place = Place(bucket: bucket, field: field)
        state.withLock { $0.scattered[place] = index.wholeMerge() == nil ? nil : .now }
        if let job = index.pendingMerge() { run(job, for: place) }
    }

    /// An index at rest is merged when it has not been written for this long for each of its points:
    /// some twenty times what the merge takes, so that writes now and then cost little more.
    private static let rest = (shortest: Duration.seconds(1), eachPoint: Duration.microseconds(5))

    /// Starts the merges of all tiers of the indexes that are at rest at some instant.
    ///
    /// - Parameter index: tells the present state of an index.
    func startAtRest(
        _ now: ContinuousClock.Instant, _ index: (BucketName, FieldPath) -> PointIndex?
    ) {
        for (place, written) in state.withLock({ $0.scattered }) {
            let job = index(place.bucket, place.field)?.wholeMerge()
            let rest = max(Self.rest.shortest, Self.rest.eachPoint * (job?.entryCount ?? 0))
            guard now - written >= rest else { continue }
            state.withLock { state in
                // Unless it has been written since.
                if state.scattered[place] == written { state.scattered[place] = nil }
            }
            if let job { run(job, for: place) }
        }
    }

    /// Runs a merge, unless one of the same index is under way.
    private func run(_ job: MergeJob, for place: Place) {
        guard state.withLock({ $0.running.insert(place).inserted }) else { return }
        queue.async { [self] in
            let merged = job.run()
            state.withLock {
                $0.finished.append(
                    Finished(bucket: place.bucket, field: place.field, tier: merged))
            }
            ready()
        }
    }

    /// The merges that have finished since the last call.
    func finished() -> [Finished] {
        state.withLock { state in
            defer { state.finished.removeAll() }
            for merge in state.finished {
                state.running.remove(Place(bucket: merge.bucket, field: merge.field))
            }
            return state.finished
        }
    }
}
