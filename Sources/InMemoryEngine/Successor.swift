import Backend
import HashTreeCollections
import JSONText
import Objects
import SpatialIndex

/// The next snapshot in the making.
struct Successor {
    private let base: Snapshot
    private(set) var buckets: TreeDictionary<BucketName, BucketBox>
    private(set) var touched: [BucketName: BucketState] = [:]
    /// Of the buckets that are not touched.
    private var totals: Snapshot.Totals

    init(_ base: Snapshot) {
        self.base = base
        buckets = base.buckets
        totals = base.totals
    }

    /// Does the upserts with which some changes begin, as far as they are of one bucket.
    ///
    /// - Parameter done: is called with each.
    /// - Returns: the changes behind them.
    mutating func upsert(
        _ changes: ArraySlice<Change>, _ parser: JSONParser,
        _ done: (ObjectChange, _ document: [UInt8]) -> Void
    ) -> ArraySlice<Change> {
        guard let bucket = changes.first?.bucket else { return changes }
        var rest = changes
        modify(bucket) { state in
            while case .upsert(let object, let document)? = rest.first, object.bucket == bucket {
                state.upsert(object, document, parser)
                done(object, document)
                rest.removeFirst()
            }
        }
        return rest
    }

    mutating func delete(_ creations: [ChangeNumber], in bucket: BucketName) {
        modify(bucket) { state in
            for creation in creations { state.delete(created: creation) }
        }
    }

    mutating func deleteBucket(_ name: BucketName, cache: DocumentCache) {
        guard let state = take(name) else { return }
        for slot in 0..<state.slotCount where state.records[slot].isAlive {
            cache.remove(creation: state.records[slot].creation)
        }
        buckets[name] = nil
    }

    mutating func install(_ merges: [BackgroundMerges.Finished]) {
        for merge in merges where touched[merge.bucket] != nil || buckets[merge.bucket] != nil {
            modify(merge.bucket) { _ = $0.install(merge.tier, in: merge.field) }
        }
    }

    mutating func install(_ compactions: [Compactions.Finished], _ works: ColumnWorks) {
        for compaction in compactions {
            modify(compaction.bucket) { $0.renumber(as: compaction.state) }
            works.forgetOrders(of: compaction.bucket)
        }
    }

    func snapshot(change: ChangeNumber) -> Snapshot {
        var table = buckets
        var totals = totals
        for (name, state) in touched {
            table[name] = BucketBox(state)
            totals.add(state, named: name)
        }
        return Snapshot(
            change: change, buckets: table, totals: totals,
            superseded: base.superseded.successor())
    }

    /// Changes a bucket in place. Its totals are counted once, when the snapshot is made: counting costs
    /// more than many a change.
    mutating func modify(_ name: BucketName, _ body: (inout BucketState) -> Void) {
        // By places: to ask for the keys or the value would hold a copy while it is changed.
        if touched.index(forKey: name) == nil { touched[name] = take(name) ?? BucketState() }
        body(&touched.values[touched.index(forKey: name)!])
    }

    /// Moves a bucket's state out, so that it is written in place, and out of the totals.
    private mutating func take(_ name: BucketName) -> BucketState? {
        if let state = touched.removeValue(forKey: name) { return state }
        guard let state = buckets[name]?.state else { return nil }
        totals.subtract(state, named: name)
        return state
    }
}

extension BucketState {
    /// Takes on an object's new state, its columns' values too.
    fileprivate mutating func upsert(
        _ object: ObjectChange, _ document: [UInt8], _ parser: JSONParser
    ) {
        let slot = apply(object)
        guard !columns.isEmpty, let view = try? parser.parse(document) else { return }
        for field in columns.entries.keys {
            columns.set(slot, to: ColumnValue(field.value(in: view)), in: field)
        }
    }
}
