import BackendContract
import Objects
import QueryLanguage

/// A snapshot that somebody compares with a later one.
final class PinnedSnapshot: PinnedState {
    private let snapshot: Snapshot
    private let engine: Engine

    init(_ snapshot: Snapshot, engine: Engine) {
        self.snapshot = snapshot
        self.engine = engine
    }

    var change: ChangeNumber { snapshot.change }

    private func view(_ name: BucketName, at time: Int64) -> BucketView? {
        snapshot.buckets[name]?.current { time }
    }

    func bucket(_ name: BucketName, at time: Int64) -> (any PinnedBucket)? {
        view(name, at: time).map {
            PinnedBucketView($0, at: time, of: snapshot, engine: engine)
        }
    }

    func find(
        _ query: Query, in bucket: BucketName, at time: Int64, atMost count: Int,
        until stop: StopSignal?
    ) throws(ServiceFailure) -> any FoundObjects {
        let planned = PlannedQuery(
            query, in: bucket, view(bucket, at: time) ?? .empty, of: snapshot, pageObjects: count,
            on: engine)
        planned.requestColumns()
        return try FoundMatches(planned, atMost: count, within: engine.bounds(until: stop))
    }
}

/// The changes that led from one snapshot to the next.
struct PublishedStep: StateStep {
    let changes: [Change]

    var touchedCount: Int {
        changes.reduce(0) { count, change in
            switch change {
            case .upsert: count + 1
            case .delete(_, let creations, _): count + creations.count
            case .deleteBucket: count
            }
        }
    }

    func forEachTouched(
        _ body: (BucketName, _ creation: ChangeNumber, _ deletion: ChangeNumber?) -> Void
    ) {
        for change in changes {
            switch change {
            case .upsert(let object, _): body(object.bucket, object.creation, nil)
            case .delete(let bucket, let creations, let deletions):
                for (creation, deletion) in zip(creations, deletions) {
                    body(bucket, creation, deletion)
                }
            case .deleteBucket: break  // its objects are deleted first
            }
        }
    }

    func forEachPlaced(in bucket: BucketName, _ body: (ObjectID, [FieldPoint]) -> Void) {
        for case .upsert(let object, _) in changes
        where object.bucket == bucket && !object.points.isEmpty {
            body(object.metadata.id, object.points)
        }
    }
}
