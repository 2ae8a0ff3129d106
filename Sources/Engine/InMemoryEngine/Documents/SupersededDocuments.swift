import BackendContract
import Objects
import Synchronization

/// Documents that were replaced or deleted after a snapshot. They are kept as long as a reader of
/// that snapshot or an earlier one may ask for them.
///
/// They form a chain in the order of snapshots. Each link holds the documents that the step to the
/// next snapshot superseded. A snapshot refers to its own link, so a link lives exactly as long as
/// a snapshot at or before it.
final class SupersededDocuments: Sendable {
    private struct Link {
        var documents: [ChangeNumber: [UInt8]] = [:]
        /// All documents as they were before the step, if the step superseded many.
        var all: (any PresentDocuments)?
        var next: SupersededDocuments?
    }

    private let link = Mutex(Link())
    private let total: ByteCount

    /// - Parameter total: counts the bytes of all links.
    init(total: ByteCount) { self.total = total }

    /// Keeps a document under the number of the change that wrote it.
    func keep(_ document: [UInt8], change: ChangeNumber) {
        // A transaction that is retried passes the same document again.
        let former = link.withLock { $0.documents.updateValue(document, forKey: change) }
        if former == nil { total.add(Self.bytes(of: document)) }
    }

    /// Keeps all present documents, or, with nil, only the single ones.
    func keepAll(_ documents: (any PresentDocuments)?) { link.withLock { $0.all = documents } }

    /// The memory of a kept document: its bytes, the array header and the table cell.
    private static func bytes(of document: [UInt8]) -> Int { document.count + 64 }

    /// The bytes that all links keep.
    var totalBytes: Int { total.value }

    /// The link of the next snapshot. Publishing that snapshot ends this link.
    func nextSnapshot() -> SupersededDocuments { SupersededDocuments(total: total) }

    /// Ends this link when the next snapshot is published.
    func end(next: SupersededDocuments) {
        link.withLock { $0.next = next }
    }

    /// A document that this step or one of the next few superseded one by one, for those who need
    /// not know.
    ///
    /// - Complexity: some look-ups in memory, however long the chain is.
    func document(supersededNext change: ChangeNumber) -> [UInt8]? {
        var current = self
        for _ in 0..<Self.fewSteps {
            let (found, next) = current.link.withLock { ($0.documents[change], $0.next) }
            if let found { return found }
            guard let next else { return nil }
            current = next
        }
        return nil
    }

    private static let fewSteps = 16

    /// A document that this step or a later one superseded.
    func document(
        creation: ChangeNumber, change: ChangeNumber
    ) throws(ServiceFailure) -> [UInt8]? {
        var current: SupersededDocuments? = self
        while let at = current {
            let (found, all, next) = at.link.withLock { ($0.documents[change], $0.all, $0.next) }
            if let found { return found }
            if let kept = try all?.document(creation: creation), kept.change == change {
                return kept.text
            }
            current = next
        }
        return nil
    }

    /// Frees a long chain link by link. Freeing it recursively would overflow the stack.
    deinit {
        var (next, bytes) = link.withLock { link in
            let next = link.next
            link.next = nil
            return (next, link.documents.values.reduce(0) { $0 + Self.bytes(of: $1) })
        }
        total.add(-bytes)
        while next != nil, isKnownUniquelyReferenced(&next) {
            next = next!.link.withLock { link in
                let after = link.next
                link.next = nil
                return after
            }
        }
    }
}

/// A byte count that several threads update.
final class ByteCount: Sendable {
    private let bytes = Atomic<Int>(0)

    var value: Int { bytes.load(ordering: .relaxed) }

    func add(_ count: Int) { bytes.add(count, ordering: .relaxed) }
}
