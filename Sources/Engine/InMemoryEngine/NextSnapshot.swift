import BackendContract
import HashTreeCollections
import JSONText
import Objects

/// The next snapshot while one transaction, its only owner, changes it. Nobody else sees it before
/// `Engine.publish`. Dropping it discards the changes.
public final class NextSnapshot {
    /// The changes applied so far, in order.
    private(set) var changes: [Change] = []
    /// The buckets that the changes were applied to.
    private var changed: Set<BucketName> = []
    /// Whether the rows of many deleted objects stay for a while. Their documents are forgotten with
    /// the rows.
    public var rowsStay = false
    let base: Snapshot
    private(set) var buckets: TreeDictionary<BucketName, BucketView>
    /// The changed buckets, except the open one.
    private var closed: [BucketName: BucketState] = [:]
    /// The bucket that is being changed. It is moved out of the tables so that it is written in
    /// place.
    private var openName: BucketName?
    private var open = BucketState()
    /// See `Engine.Tuning`.
    private let pointsPerTree: Int
    /// The totals of the untouched buckets.
    private var totals: Snapshot.Totals
    /// Buckets that were deleted, or in which large parts were replaced by the results of
    /// background work.
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

    /// The change that created an object and its latest change, even if the object has expired.
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

    /// The changes that created the objects of a bucket, expired ones included, in ascending order.
    public func creations(in bucket: BucketName) -> [ChangeNumber] {
        guard exists(bucket) else { return [] }
        return modify(bucket) { $0.records.creations }
    }

    /// The number of field paths of a bucket that hold GeoPoints.
    public func geoFieldCount(of bucket: BucketName) -> Int {
        guard exists(bucket) else { return 0 }
        work(on: bucket)
        return open.fields.count
    }

    /// Whether any object of a bucket has a GeoPoint at a field path; false if the bucket does not
    /// exist.
    public func hasGeoPoints(at field: FieldPath, in bucket: BucketName) -> Bool {
        guard exists(bucket) else { return false }
        work(on: bucket)
        return open.fields[field] != nil
    }

    /// - Parameters:
    ///   - text: the object's own document.
    ///   - parser: parses the document again if the bucket has columns.
    public func upsert(_ object: ObjectChange, _ text: [UInt8], _ parser: JSONParser) {
        work(on: object.bucket)
        open.upsert(object, text, parser)
        note(.upsert(object, text: text))
    }

    /// Whether the object that a change created is in a bucket, perhaps expired.
    public func has(_ creation: ChangeNumber, in bucket: BucketName) -> Bool {
        guard exists(bucket) else { return false }
        work(on: bucket)
        return open.isAlive(created: creation)
    }

    /// Those of some changes, in ascending order, that created objects which are in a bucket, perhaps
    /// expired: their positions.
    public func present(among creations: [ChangeNumber], in bucket: BucketName) -> [Int] {
        guard exists(bucket) else { return [] }
        work(on: bucket)
        return creations.indices.filter { open.isAlive(created: creations[$0]) }
    }

    /// The number of objects of a bucket that have expired at a time.
    public func expiredCount(in bucket: BucketName, at now: Int64) -> Int {
        guard exists(bucket) else { return 0 }
        work(on: bucket)
        var count = 0
        open.expiries.forEach(until: now) { _ in count += 1 }
        return count
    }

    /// Elects the place of each bucket that has been changed and still exists.
    public func electPlaces() -> [(bucket: BucketName, place: FieldPath?)] {
        changed.compactMap { name in
            guard exists(name) else { return nil }
            return modify(name) { state in
                state.electPlace(after: state.place)
                return (name, state.place)
            }
        }
    }

    /// The buckets that have been changed and still exist.
    public var changedBuckets: [BucketName] { changed.filter(exists) }

    /// Takes over the place of a bucket that whoever wrote its objects has elected; with nil, nobody has,
    /// and the place is the one of a bucket that is loaded.
    public func setPlace(of bucket: BucketName, to elected: FieldPath?) {
        let isNew = modify(bucket) { state in
            let former = state.place
            state.electPlace(after: elected)
            return state.place != former
        }
        if isNew { changed.insert(bucket) }
    }

    /// Creates a bucket, unless it exists.
    public func createBucket(_ name: BucketName) { work(on: name) }

    /// Deletes the objects that these changes created. All of them have to be in the bucket.
    ///
    /// - Parameters:
    ///   - numbers: the change that deletes each of them.
    ///   - found: has the bucket without them, if they are many.
    public func delete(
        _ creations: [ChangeNumber], in bucket: BucketName, by numbers: [ChangeNumber],
        leaving found: FoundDeletion? = nil
    ) {
        delete(creations, in: bucket, by: numbers, leaving: found?.rest?.state)
    }

    /// Deletes the objects of a deletion of another store.
    ///
    /// - Parameter foreseen: has the bucket without them.
    public func delete(
        _ creations: [ChangeNumber], in bucket: BucketName, by numbers: [ChangeNumber],
        leaving foreseen: ForeseenDeletion
    ) {
        delete(creations, in: bucket, by: numbers, leaving: foreseen.remainder)
    }

    private func delete(
        _ creations: [ChangeNumber], in bucket: BucketName, by numbers: [ChangeNumber],
        leaving rest: BucketState?
    ) {
        precondition(creations.count == numbers.count, "a deletion has one change")
        work(on: bucket)
        if let rest {
            let place = open.place
            open = rest
            open.electPlace(after: place)
        } else {
            for creation in creations { open.delete(created: creation) }
        }
        note(.delete(bucket: bucket, creations: creations, changes: numbers))
    }

    /// Deletes a bucket.
    ///
    /// - Parameters:
    ///   - creations: the changes that created the objects that it still has.
    ///   - numbers: the change that deletes each of them.
    public func deleteBucket(
        _ name: BucketName, with creations: [ChangeNumber] = [], by numbers: [ChangeNumber] = []
    ) {
        precondition(creations.count == numbers.count, "a deletion has one change")
        if !creations.isEmpty {
            note(.delete(bucket: name, creations: creations, changes: numbers))
        }
        _ = take(name)
        buckets[name] = nil
        noteRebuilt(name)
        note(.deleteBucket(name))
    }

    private func note(_ change: Change) {
        changes.append(change)
        changed.insert(change.bucket)
    }

    // MARK: For the engine

    /// The buckets that have been changed.
    var touched: [BucketName: BucketState] {
        close()
        return closed
    }

    func noteRebuilt(_ name: BucketName) { rebuilt.insert(name) }

    /// The former states of buckets that lost large parts. Freeing them takes a while.
    var replaced: [BucketView] {
        let renumbered = touched.compactMap { name, state in
            base.bucket(name)?.numbering != state.numbering ? name : nil
        }
        return rebuilt.union(renumbered).compactMap { base.buckets[$0] }
    }

    /// The bytes that the columns of all buckets occupy.
    var columnBytes: Int { touched.values.reduce(totals.memory.columns) { $0 + $1.columnBytes } }

    func snapshot(change: ChangeNumber) -> Snapshot {
        _ = electPlaces()
        var table = buckets
        var names = base.names
        var totals = totals
        for (name, state) in touched {
            // Background work leaves the objects as they are.
            let former = changed.contains(name) ? nil : base.buckets[name]?.change
            table[name] = BucketView(state, change: former ?? change)
            if base.buckets[name] == nil { names.insert(name) }
            totals.add(state, named: name)
        }
        for name in rebuilt where table[name] == nil { names.remove(name) }
        return Snapshot(
            change: change, buckets: table, names: names, totals: totals,
            superseded: base.superseded.nextSnapshot())
    }

    /// Changes a bucket in place. Its totals are counted once, when the snapshot is made, because
    /// counting costs more than many changes do.
    func modify<Result>(_ name: BucketName, _ body: (inout BucketState) -> Result) -> Result {
        work(on: name)
        return body(&open)
    }

    func exists(_ name: BucketName) -> Bool {
        openName == name || closed[name] != nil || buckets[name] != nil
    }

    /// The state of a bucket with the changes made so far.
    func state(of name: BucketName) -> BucketState? {
        openName == name ? open : closed[name] ?? buckets[name]?.state
    }

    /// Opens a bucket, and creates it if it does not exist.
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

    /// Moves a bucket's state out of the tables, so that it is written in place, and subtracts it
    /// from the totals.
    private func take(_ name: BucketName) -> BucketState? {
        close()
        if let state = closed.removeValue(forKey: name) { return state }
        guard let state = buckets[name]?.state else { return nil }
        totals.subtract(state, named: name)
        return state
    }
}

extension BucketState {
    /// Applies an object's new state, including the values of its columns.
    fileprivate mutating func upsert(
        _ object: ObjectChange, _ text: [UInt8], _ parser: JSONParser
    ) {
        let slot = apply(object)
        guard !columns.isEmpty,
            let view = try? parser.parse(object.metadata.document(around: text))
        else { return }
        columns.set(slot) { ColumnValue($0.value(in: view)) }
    }
}
