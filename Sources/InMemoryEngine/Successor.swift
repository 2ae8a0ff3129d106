import Backend
import HashTreeCollections
import Objects
import SpatialIndex

/// The next snapshot in the making.
struct Successor {
    private let base: Snapshot
    private var buckets: TreeDictionary<BucketName, BucketBox>
    private(set) var touched: [BucketName: BucketState] = [:]
    private var totals: Snapshot.Totals

    init(_ base: Snapshot) {
        self.base = base
        buckets = base.buckets
        totals = base.totals
    }

    mutating func apply(_ change: Change, cache: DocumentCache) {
        switch change {
        case .upsert(let object): modify(object.bucket) { $0.apply(object) }
        case .delete(let bucket, let creation):
            modify(bucket) { $0.delete(created: creation) }
            cache.remove(creation: creation)
        case .deleteBucket(let name):
            guard let state = take(name) else { return }
            for slot in 0..<state.slotCount where state.records[slot].isAlive {
                cache.remove(creation: state.records[slot].creation)
            }
            buckets[name] = nil
        }
    }

    mutating func install(_ merges: [BackgroundMerges.Finished]) {
        for merge in merges where touched[merge.bucket] != nil || buckets[merge.bucket] != nil {
            modify(merge.bucket) { _ = $0.install(merge.tier, in: merge.field) }
        }
    }

    mutating func install(_ compactions: [Compactions.Finished]) {
        for compaction in compactions {
            modify(compaction.bucket) { state in
                precondition(
                    state.count == compaction.state.count, "a compaction that lost objects")
                state = compaction.state
            }
        }
    }

    func snapshot(change: ChangeNumber) -> Snapshot {
        var table = buckets
        for (name, state) in touched { table[name] = BucketBox(state) }
        return Snapshot(
            change: change, buckets: table, totals: totals,
            superseded: base.superseded.successor())
    }

    private mutating func modify(_ name: BucketName, _ body: (inout BucketState) -> Void) {
        var state = take(name) ?? BucketState()
        body(&state)
        totals.add(state, named: name)
        touched[name] = state
    }

    /// Moves a bucket's state out, so that it is written in place, and out of the totals.
    private mutating func take(_ name: BucketName) -> BucketState? {
        guard let state = touched.removeValue(forKey: name) ?? buckets[name]?.state else {
            return nil
        }
        totals.subtract(state, named: name)
        return state
    }
}
