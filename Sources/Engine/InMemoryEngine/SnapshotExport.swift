import BackendContract
import JSONText
import Objects
import PersistentStructures
import Synchronization

/// A bucket at one state, object by object. The engine provides the list of objects; the documents
/// come from a frozen state of the store.
///
/// It holds no snapshot, because a snapshot would keep every document that is replaced meanwhile.
final class SnapshotExport: BucketExport {
    private let engine: Engine
    private let state: BucketState
    private let documents: any PresentDocuments
    private let nextSlot = Mutex(0)

    init(engine: Engine, state: BucketState, documents: any PresentDocuments) {
        self.engine = engine
        self.state = state
        self.documents = documents
    }

    func next(
        maximumBytes: Int, into writer: inout JSONWriter
    ) throws(ServiceFailure) -> Bool {
        let start = writer.count
        var slot = nextSlot.withLock { $0 }
        let now = state.expiries.next == Expiries.never ? .min : engine.clock.milliseconds()
        func isThere(_ slot: Int) -> Bool {
            state.records[slot].isAlive && state.expiries[Slot(slot)] > now
        }
        while slot < state.slotCount {
            if isThere(slot) {
                let document = try document(of: state.records[slot])
                let isFirst = writer.count == start
                guard isFirst || writer.count - start + 1 + document.count <= maximumBytes else {
                    break
                }
                if !isFirst { writer.byte(UInt8(ascii: ",")) }
                writer.raw(document)
            }
            slot += 1
        }
        // Skips holes at the end, which are not objects.
        while slot < state.slotCount, !isThere(slot) { slot += 1 }
        nextSlot.withLock { $0 = slot }
        return slot < state.slotCount
    }

    private func document(of record: BucketState.SlotRecord) throws(ServiceFailure) -> [UInt8] {
        let (creation, change) = (record.creation, record.change)
        if let cached = engine.cachedDocument(creation: creation, change: change) { return cached }
        guard let stored = try documents.document(creation: creation), stored.change == change
        else {
            throw ServiceFailure(.undefined, "the document of change \(change) is not stored")
        }
        return stored.text
    }
}

extension Engine {
    /// The present state of a bucket, for reading piece by piece.
    ///
    /// - Parameter documents: the present documents, which must not change.
    public func export(
        _ bucket: BucketName, from documents: any PresentDocuments
    ) -> any BucketExport {
        let state = bucketView(of: bucket, in: snapshot)?.state ?? BucketState()
        return SnapshotExport(engine: self, state: state, documents: documents)
    }
}
