import Dispatch
import Objects
import SpatialIndex
import Synchronization

/// Merges of large tiers, run beside the writer.
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
        var finished: [Finished] = []
    }

    private let state = Mutex(State())
    private let queue = DispatchQueue(label: "geobucket.merge", qos: .utility)
    private let ready: @Sendable () -> Void

    init(ready: @escaping @Sendable () -> Void) { self.ready = ready }

    /// Starts the merge that an index is due, unless one of it is under way.
    func start(_ index: PointIndex, field: FieldPath, bucket: BucketName) {
        let place = Place(bucket: bucket, field: field)
        guard !state.withLock({ $0.running.contains(place) }), let job = index.pendingMerge()
        else { return }
        state.withLock { _ = $0.running.insert(place) }
        queue.async { [self] in
            let merged = job.run()
            state.withLock {
                $0.finished.append(Finished(bucket: bucket, field: field, tier: merged))
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
