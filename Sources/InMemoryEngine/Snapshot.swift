import Backend
import HashTreeCollections
import Objects
import Synchronization

/// The state of all buckets after one change: what a read holds from beginning to end.
///
/// Snapshots share what no change between them has touched. One is freed when its last reader is
/// done with it.
final class Snapshot: Sendable {
    /// The number of the latest change it holds.
    let change: ChangeNumber
    let buckets: TreeDictionary<BucketName, BucketBox>
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
            memory.buckets += times * (BucketBox.emptyBytes + name.memoryBytes)
            memory.records += times * state.recordBytes
            memory.ids += times * state.idBytes
            memory.points += times * state.pointBytes
            memory.columns += times * state.columnBytes
        }
    }

    init(
        change: ChangeNumber, buckets: TreeDictionary<BucketName, BucketBox>, totals: Totals,
        superseded: SupersededDocuments
    ) {
        self.change = change
        self.buckets = buckets
        self.totals = totals
        self.superseded = superseded
    }

    func bucket(_ name: BucketName) -> BucketState? { buckets[name]?.state }
}

/// A bucket's state behind one reference, so that the table of buckets stays narrow.
final class BucketBox: Sendable {
    let state: BucketState
    /// The state without what has expired since, once a reader has come late enough.
    private let later = Mutex<BucketBox?>(nil)

    /// What a bucket takes that has no objects: the box and its cell in the table of buckets.
    static let emptyBytes = 32 + MemoryLayout<BucketState>.size + 64

    init(_ state: BucketState) { self.state = state }

    /// The bucket as a reader at a time has to see it: without what has expired, though the writer may
    /// not have removed it yet. Asks for the time only where something expires.
    func current(at now: () -> Int64) -> BucketBox {
        guard state.expiries.next != Expiries.never else { return self }
        let now = now()
        guard state.expiries.next <= now else { return self }
        return later.withLock { later in
            let latest = later ?? self
            guard latest.state.expiries.next <= now else { return latest }
            var current = latest.state
            current.removeExpired(at: now)
            let box = BucketBox(current)
            later = box
            return box
        }
    }
}

extension BucketName {
    /// What the text takes besides its place in the table of buckets.
    fileprivate var memoryBytes: Int { text.utf8.count > 15 ? 48 + text.utf8.count : 0 }
}
