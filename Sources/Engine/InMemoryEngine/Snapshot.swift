import BackendContract
import HashTreeCollections
import Objects
import PersistentStructures

/// The state of all buckets after one change. A read holds it from beginning to end.
///
/// Snapshots share the parts that no change between them has touched. A snapshot is freed when its
/// last reader ends.
final class Snapshot: Sendable {
    /// The number of the latest change that the snapshot contains.
    let change: ChangeNumber
    let buckets: TreeDictionary<BucketName, BucketView>
    /// The names of `buckets`, in order.
    let names: BucketNames
    let totals: Totals
    /// Documents superseded after this snapshot.
    let superseded: SupersededDocuments

    /// The totals over all buckets, updated from snapshot to snapshot.
    struct Totals {
        var objects = 0
        var points = 0
        var columns = 0
        var memory = MemoryStatistics()

        mutating func add(_ state: BucketState, named name: BucketName) {
            count(state, name, times: 1)
        }

        mutating func subtract(_ state: BucketState, named name: BucketName) {
            count(state, name, times: -1)
        }

        private mutating func count(_ state: BucketState, _ name: BucketName, times: Int) {
            objects += times * state.count
            points += times * state.points
            columns += times * state.columns.entries.count
            memory.buckets += times * (BucketView.emptyBytes + name.memoryBytes)
            memory.records += times * state.recordBytes
            memory.ids += times * state.idBytes
            memory.points += times * state.pointBytes
            memory.columns += times * state.columnBytes
        }
    }

    init(
        change: ChangeNumber, buckets: TreeDictionary<BucketName, BucketView>, names: BucketNames,
        totals: Totals, superseded: SupersededDocuments
    ) {
        self.change = change
        self.buckets = buckets
        self.names = names
        self.totals = totals
        self.superseded = superseded
    }

    func bucket(_ name: BucketName) -> BucketState? { buckets[name]?.state }
}

/// A bucket's state behind one reference, so that the entries of the bucket table stay small; or
/// the same state as a reader sees it at some time.
final class BucketView: Sendable {
    let state: BucketState
    /// The bucket has these objects since this change or an earlier one. Numbers of changes that
    /// other buckets had meanwhile would do as well.
    let change: ChangeNumber
    /// Objects that expire at or before this time are invisible, although the writer has not
    /// removed them yet; nil if there are none.
    let expiredBy: Int64?

    /// The memory of a bucket without objects: the view and its entry in the bucket table.
    static let emptyBytes = 48 + MemoryLayout<BucketState>.size + 64

    /// Stands for a bucket that does not exist.
    static let empty = BucketView(BucketState(), change: 0)

    init(_ state: BucketState, change: ChangeNumber, expiredBy: Int64? = nil) {
        self.state = state
        self.change = change
        self.expiredBy = expiredBy
    }

    /// The bucket as a reader sees it at the present time. The clock is read only if an object
    /// expires.
    func current(at now: () -> Int64) -> BucketView {
        guard state.expiries.next != Expiries.never else { return self }
        let now = now()
        return state.expiries.next <= now
            ? BucketView(state, change: change, expiredBy: now) : self
    }

    /// The slot of the object with an id, if the object is visible to the reader.
    func slot(of id: ObjectID) -> Slot? {
        guard let slot = state.slot(of: id) else { return nil }
        guard let expiredBy, state.expiries[slot] <= expiredBy else { return slot }
        return nil
    }

    /// The number of visible objects, the paths at which they hold GeoPoints, and the one of these
    /// that maps and collections show.
    ///
    /// - Complexity: O(expired objects that have not been removed).
    var contents: (objects: Int, geoFields: [FieldPath], place: FieldPath?) {
        guard let expiredBy else {
            return (state.count, Array(state.fields.keys), state.place)
        }
        var expired: [Slot] = []
        state.expiries.forEach(until: expiredBy) { expired.append($0) }
        let fields = state.fields.filter { _, index in
            index.count > expired.count { index.position(of: $0) != .nowhere }
        }
        let place = PlaceElection.place(
            after: state.place, among: fields.lazy.map { ($0.key, $0.value.count) })
        return (state.count - expired.count, Array(fields.keys), place)
    }
}

extension BucketName {
    /// The memory of the text outside the bucket table.
    fileprivate var memoryBytes: Int { text.utf8.count > 15 ? 48 + text.utf8.count : 0 }
}
