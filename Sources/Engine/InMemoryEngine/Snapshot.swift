import Backend
import HashTreeCollections
import Objects
import PersistentStructures

/// The state of all buckets after one change: what a read holds from beginning to end.
///
/// Snapshots share what no change between them has touched. One is freed when its last reader is
/// done with it.
final class Snapshot: Sendable {
    /// The number of the latest change it holds.
    let change: ChangeNumber
    let buckets: TreeDictionary<BucketName, BucketView>
    let totals: Totals
    /// Documents superseded after this snapshot.
    let superseded: SupersededDocuments

    /// What all buckets have together, kept up from snapshot to snapshot.
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
        change: ChangeNumber, buckets: TreeDictionary<BucketName, BucketView>, totals: Totals,
        superseded: SupersededDocuments
    ) {
        self.change = change
        self.buckets = buckets
        self.totals = totals
        self.superseded = superseded
    }

    func bucket(_ name: BucketName) -> BucketState? { buckets[name]?.state }
}

/// A bucket's state behind one reference, so that the table of buckets stays narrow; or the same as a
/// reader at some time sees it.
final class BucketView: Sendable {
    let state: BucketState
    /// Objects that have expired by then are there for nobody, though the writer has not removed them
    /// yet; nil where there are none.
    let expiredBy: Int64?

    /// What a bucket takes that has no objects: the view and its cell in the table of buckets.
    static let emptyBytes = 40 + MemoryLayout<BucketState>.size + 64

    /// What a bucket has that is not there.
    static let empty = BucketView(BucketState())

    init(_ state: BucketState, expiredBy: Int64? = nil) {
        self.state = state
        self.expiredBy = expiredBy
    }

    /// The bucket as a reader at a time has to see it. Asks for the time only where something expires.
    func current(at now: () -> Int64) -> BucketView {
        guard state.expiries.next != Expiries.never else { return self }
        let now = now()
        return state.expiries.next <= now ? BucketView(state, expiredBy: now) : self
    }

    /// The slot of the object that has an id, if the reader sees that.
    func slot(of id: ObjectID) -> Slot? {
        guard let slot = state.slot(of: id) else { return nil }
        guard let expiredBy, state.expiries[slot] <= expiredBy else { return slot }
        return nil
    }

    /// How many objects the reader sees, and the paths at which they hold GeoPoints.
    ///
    /// - Complexity: O(objects that have expired and are not removed).
    var contents: (objects: Int, geoFields: [FieldPath]) {
        guard let expiredBy else { return (state.count, Array(state.fields.keys)) }
        var expired: [Slot] = []
        state.expiries.forEach(until: expiredBy) { expired.append($0) }
        let fields = state.fields.filter { _, index in
            index.count > expired.count { index.position(of: $0) != nil }
        }
        return (state.count - expired.count, Array(fields.keys))
    }
}

extension BucketName {
    /// What the text takes besides its place in the table of buckets.
    fileprivate var memoryBytes: Int { text.utf8.count > 15 ? 48 + text.utf8.count : 0 }
}
