import BackendContract
import Objects
import Synchronization

/// Documents that were replaced or deleted after a snapshot. They are kept as long as a reader of
/// that snapshot or an earlier one may ask for them.
///
/// They form a chain in the order of snapshots. Each link holds the documents that the step to the
/// next snapshot superseded. A snapshot refers to its own link, so a link lives exactly as long as
/// a snapshot at or before it. When all links hold too much, the oldest drop their documents
/// (`KeptDocuments`); a reader that asks for one of these ends.
final class SupersededDocuments: Sendable {
    fileprivate struct Link {
        var documents: [ChangeNumber: [UInt8]] = [:]
        /// All documents as they were before the step, if the step superseded many.
        var all: (any PresentDocuments)?
        var next: SupersededDocuments?
        /// The bytes of `documents`.
        var bytes = 0
        /// Whether the documents were dropped.
        var isCut = false
    }

    private let link = Mutex(Link())
    private let kept: KeptDocuments

    /// - Parameter kept: knows all links.
    init(kept: KeptDocuments) { self.kept = kept }

    /// Keeps a document under the number of the change that wrote it.
    func keep(_ document: [UInt8], change: ChangeNumber) {
        let bytes = Self.bytes(of: document)
        link.withLock { link in
            // A transaction that is retried passes the same document again.
            guard link.documents.updateValue(document, forKey: change) == nil else { return }
            link.bytes += bytes
            kept.add(bytes)
        }
    }

    /// Keeps all present documents.
    func keepAll(_ documents: any PresentDocuments) { link.withLock { $0.all = documents } }

    /// Drops everything: the step has not been taken.
    func keepNothing() {
        link.withLock { link in
            link.all = nil
            link.dropDocuments(kept)
        }
    }

    /// Drops the documents, whoever may ask for them.
    fileprivate func cut() {
        link.withLock { link in
            guard link.bytes > 0 else { return }
            link.isCut = true
            link.dropDocuments(kept)
        }
    }

    /// The memory of a kept document: its bytes, the array header and the table cell.
    private static func bytes(of document: [UInt8]) -> Int { document.count + 64 }

    /// The bytes that all links keep.
    var totalBytes: Int { kept.bytes }

    /// The link of the next snapshot. Publishing that snapshot ends this link.
    func nextSnapshot() -> SupersededDocuments { SupersededDocuments(kept: kept) }

    /// Ends this link when the next snapshot is published.
    func end(next: SupersededDocuments) {
        link.withLock { $0.next = next }
    }

    /// Cuts the oldest links if all keep too much, after this one has ended.
    func boundKept() {
        if link.withLock({ $0.bytes > 0 }) { kept.append(self) }
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
    ///
    /// - Throws: `QUERY_TIMEOUT` if it may be one that was dropped.
    func document(
        creation: ChangeNumber, change: ChangeNumber
    ) throws(ServiceFailure) -> [UInt8]? {
        var current: SupersededDocuments? = self
        var isCut = false
        while let at = current {
            let (found, all, next) = at.link.withLock { link in
                isCut = isCut || link.isCut
                return (link.documents[change], link.all, link.next)
            }
            if let found { return found }
            if let kept = try all?.document(creation: creation), kept.change == change {
                return kept.text
            }
            current = next
        }
        guard !isCut else { throw kept.failure }
        return nil
    }

    /// Frees a long chain link by link. Freeing it recursively would overflow the stack.
    deinit {
        var next = link.withLock { link in
            link.dropDocuments(kept)
            defer { link.next = nil }
            return link.next
        }
        while next != nil, isKnownUniquelyReferenced(&next) {
            next = next!.link.withLock { link in
                let after = link.next
                link.next = nil
                return after
            }
        }
    }
}

extension SupersededDocuments.Link {
    fileprivate mutating func dropDocuments(_ kept: KeptDocuments) {
        kept.add(-bytes)
        (documents, bytes) = ([:], 0)
    }
}

/// What all links of superseded documents keep, and the limit of it.
final class KeptDocuments: Sendable {
    private struct Entry: Sendable { weak var link: SupersededDocuments? }

    private let count = Atomic<Int>(0)
    private let limitBytes: Int
    /// The links that have ended and held documents then, the oldest first.
    private let ended = Mutex<[Entry]>([])

    init(limitBytes: Int) { self.limitBytes = limitBytes }

    var bytes: Int { count.load(ordering: .relaxed) }

    fileprivate func add(_ bytes: Int) { count.add(bytes, ordering: .relaxed) }

    /// Adds the newest link, and cuts the oldest ones if all keep too much. The newest stays whole:
    /// the readers of its snapshot have only just begun.
    fileprivate func append(_ link: SupersededDocuments) {
        var cut: [SupersededDocuments] = []
        ended.withLock { ended in
            let alive = ended.firstIndex { $0.link != nil } ?? ended.count
            ended.removeFirst(alive)
            while bytes > limitBytes, !ended.isEmpty {
                guard let oldest = ended.removeFirst().link else { continue }
                oldest.cut()
                cut.append(oldest)
            }
            ended.append(Entry(link: link))
        }
        withExtendedLifetime(cut) {}  // the last reference would free the chain under the lock
    }

    /// The failure of a read that asks for a document that is kept no longer.
    fileprivate var failure: ServiceFailure {
        ServiceFailure(
            .queryTimeout,
            "the read took so long that more than \(limitBytes) bytes of documents were replaced or "
                + "deleted meanwhile")
    }
}
