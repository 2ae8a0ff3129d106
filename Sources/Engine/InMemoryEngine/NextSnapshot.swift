import Backend
import Columns
import HashTreeCollections
import JSONText
import Objects

/// The next snapshot in the making: what its one owner, a transaction, has changed so far. Nobody else
/// sees it before `InMemoryEngine.publish`; dropped, it has never been.
public final class NextSnapshot {
    /// What has been applied, in this order.
    private(set) var changes: [Change] = []
    let base: Snapshot
    private(set) var buckets: TreeDictionary<BucketName, BucketView>
    /// The buckets that have been changed, but for the open one.
    private var closed: [BucketName: BucketState] = [:]
    /// The bucket that is being worked on, out of the tables, so that it is written in place.
    private var openName: BucketName?
    private var open = BucketState()
    /// See `InMemoryEngine.Tuning`.
    private let pointsPerTree: Int
    /// Of the buckets that are not touched.
    private var totals: Snapshot.Totals
    /// Buckets that are gone, or that took large parts made in the background.
    private var rebuilt: Set<BucketName> = []

    init(_ base: Snapshot, pointsPerTree: Int) {
        self.base = base
        self.pointsPerTree = pointsPerTree
        buckets = base.buckets
        totals = base.totals
    }

    // MARK: For the transaction

    /// Whether nothing has been applied yet.
    public var isUnchanged: Bool { changes.isEmpty }

    /// The change that created an object, one that has expired too, and the latest one.
    public func changes(
        of id: ObjectID, in bucket: BucketName
    ) -> (creation: ChangeNumber, latest: ChangeNumber)? {
        guard exists(bucket) else { return nil }
        return modify(bucket) { state in
            guard let slot = state.slot(of: id) else { return nil }
            let record = state.records[Int(slot)]
            return (record.creation, record.change)
        }
    }

    /// The changes that created the objects of a bucket, of those that have expired too, in their order.
    public func creations(in bucket: BucketName) -> [ChangeNumber] {
        guard exists(bucket) else { return [] }
        return modify(bucket) { $0.records.creations }
    }

    /// How many field paths of a bucket hold GeoPoints.
    public func geoFieldCount(of bucket: BucketName) -> Int {
        guard exists(bucket) else { return 0 }
        work(on: bucket)
        return open.fields.count
    }

    /// Whether any object of a bucket has a GeoPoint at a field path; false where there is no such
    /// bucket.
    public func hasGeoPoints(at field: FieldPath, in bucket: BucketName) -> Bool {
        guard exists(bucket) else { return false }
        work(on: bucket)
        return open.fields[field] != nil
    }

    /// - Parameters:
    ///   - text: the object's own document.
    ///   - parser: reads it again where the bucket has columns.
    public func upsert(_ object: ObjectChange, _ text: [UInt8], _ parser: JSONParser) {
        work(on: object.bucket)
        open.upsert(object, text, parser)
        changes.append(.upsert(object, text: text))
    }

    /// Deletes the objects that these changes created; all of them have to be in the bucket.
    public func delete(_ creations: [ChangeNumber], in bucket: BucketName) {
        work(on: bucket)
        for creation in creations { open.delete(created: creation) }
        changes.append(.delete(bucket: bucket, creations: creations))
    }

    /// Deletes a bucket whose objects have been deleted.
    public func deleteBucket(_ name: BucketName) {
        _ = take(name)
        buckets[name] = nil
        noteRebuilt(name)
        changes.append(.deleteBucket(name))
    }

    // MARK: For the engine

    /// The buckets that have been changed.
    var touched: [BucketName: BucketState] {
        close()
        return closed
    }

    func noteRebuilt(_ name: BucketName) { rebuilt.insert(name) }

    /// The former states of buckets of which much is there no more: freeing them takes a while.
    var replaced: [BucketView] {
        let renumbered = touched.compactMap { name, state in
            base.bucket(name)?.numbering != state.numbering ? name : nil
        }
        return rebuilt.union(renumbered).compactMap { base.buckets[$0] }
    }

    /// What the columns of all buckets take.
    var columnBytes: Int { touched.values.reduce(totals.memory.columns) { $0 + $1.columnBytes } }

    func snapshot(change: ChangeNumber) -> Snapshot {
        var table = buckets
        var totals = totals
        for (name, state) in touched {
            table[name] = BucketView(state)
            totals.add(state, named: name)
        }
        return Snapshot(
            change: change, buckets: table, totals: totals,
            superseded: base.superseded.nextSnapshot())
    }

    /// Changes a bucket in place. Its totals are counted once, when the snapshot is made: counting costs
    /// more than many a change.
    func modify<Result>(_ name: BucketName, _ body: (inout BucketState) -> Result) -> Result {
        work(on: name)
        return body(&open)
    }

    func exists(_ name: BucketName) -> Bool {
        openName == name || closed[name] != nil || buckets[name] != nil
    }

    /// The state of a bucket as far as it has come.
    func state(of name: BucketName) -> BucketState? {
        openName == name ? open : closed[name] ?? buckets[name]?.state
    }

    /// Opens a bucket, a new one if need be.
    private func work(on name: BucketName) {
        guard openName != name else { return }
        close()
        open = take(name) ?? BucketState(pointsPerTree: pointsPerTree)
        openName = name
    }

    private func close() {
        guard let name = openName else { return }
        closed[name] = open
        open = BucketState()
        openName = nil
    }

    /// Moves a bucket's state out, so that it is written in place, and out of the totals.
    private func take(_ name: BucketName) -> BucketState? {
        close()
        if let state = closed.removeValue(forKey: name) { return state }
        guard let state = buckets[name]?.state else { return nil }
        totals.subtract(state, named: name)
        return state
    }
}

extension BucketState {
    /// Takes on an object's new state, its columns' values too.
    fileprivate mutating func upsert(
        _ object: ObjectChange, _ text: [UInt8], _ parser: JSONParser
    ) {
        let slot = apply(object)
        guard !columns.isEmpty,
            let view = try? parser.parse(object.metadata.document(around: text))
        else { return }
        for field in columns.entries.keys {
            columns.set(slot, to: ColumnValue(field.value(in: view)), in: field)
        }
    }
}
