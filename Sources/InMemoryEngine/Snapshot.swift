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
    let objects: Int
    let points: Int
    /// Documents superseded after this snapshot.
    let superseded: SupersededDocuments

    init(
        change: ChangeNumber, buckets: TreeDictionary<BucketName, BucketBox>, objects: Int,
        points: Int
    ) {
        self.change = change
        self.buckets = buckets
        self.objects = objects
        self.points = points
        superseded = SupersededDocuments()
    }

    func bucket(_ name: BucketName) -> BucketState? { buckets[name]?.state }
}

/// A bucket's state behind one reference, so that the table of buckets stays narrow.
final class BucketBox: Sendable {
    let state: BucketState

    init(_ state: BucketState) { self.state = state }
}

/// Documents that were replaced or deleted after a snapshot, kept as long as a reader of that or
/// of an earlier snapshot may ask for them.
///
/// A chain in the order of snapshots: each link holds what the step to the next snapshot
/// superseded. A snapshot refers to its own link, so a link lives exactly as long as a snapshot at
/// or before it.
final class SupersededDocuments: Sendable {
    private struct Link {
        var documents: [ChangeNumber: [UInt8]] = [:]
        var next: SupersededDocuments?
    }

    private let link = Mutex(Link())

    /// Keeps a document under the number of the change that wrote it.
    func keep(_ document: [UInt8], change: ChangeNumber) {
        link.withLock { $0.documents[change] = document }
    }

    /// Ends this link when the next snapshot is published.
    func end(next: SupersededDocuments) {
        link.withLock { $0.next = next }
    }

    /// A document that this or a later step superseded.
    func document(change: ChangeNumber) -> [UInt8]? {
        var current: SupersededDocuments? = self
        while let at = current {
            let (found, next) = at.link.withLock { ($0.documents[change], $0.next) }
            if let found { return found }
            current = next
        }
        return nil
    }

    /// A long chain is let go link by link: freed recursively it would overflow the stack.
    deinit {
        var next = link.withLock { link in
            let next = link.next
            link.next = nil
            return next
        }
        while let link = next, isKnownUniquelyReferenced(&next) {
            next = link.link.withLock { inner in
                let after = inner.next
                inner.next = nil
                return after
            }
        }
    }
}
