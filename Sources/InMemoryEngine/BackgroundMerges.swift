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

    /// Starts the merge that an index, just written, is due, unless one of it is under way.
    func start(_ index: PointIndex, field: FieldPath, bucket: BucketName) {
        let place = Place(bucket: bucket, field: field)
        let isRunning = state.withLock { state in
            state.scattered[place] = index.wholeMerge() == nil ? nil : .now
            return state.running.contains(place)
        }
        if !isRunning, let job = index.pendingMerge() { run(job, for: place) }
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
        let scattered = state.withLock { state in
            state.scattered.filter { !state.running.contains($0.key) }
        }
        for (place, written) in scattered {
            let job = index(place.bucket, place.field)?.wholeMerge()
            let rest = max(Self.rest.shortest, Self.rest.eachPoint * (job?.entryCount ?? 0))
            guard now - written >= rest else { continue }
            state.withLock { $0.scattered[place] = nil }
            if let job { run(job, for: place) }
        }
    }

    private func run(_ job: MergeJob, for place: Place) {
        state.withLock { _ = $0.running.insert(place) }
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
