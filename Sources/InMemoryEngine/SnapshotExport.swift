import Backend
import JSONText
import Objects
import SpatialIndex
import Synchronization

/// A bucket of one snapshot, object by object.
final class SnapshotExport: BucketExport {
    private let engine: InMemoryEngine
    private let snapshot: Snapshot
    private let state: BucketState
    private let nextSlot = Mutex(0)

    init(engine: InMemoryEngine, snapshot: Snapshot, bucket: BucketName) {
        self.engine = engine
        self.snapshot = snapshot
        state = engine.box(of: bucket, in: snapshot)?.state ?? BucketState()
    }

    func next(
        maximumBytes: Int, into writer: inout JSONWriter
    ) throws(ServiceFailure) -> Bool {
        let start = writer.count
        var slot = nextSlot.withLock { $0 }
        let now = state.expiries.next == Expiries.never ? .min : engine.now()
        func isThere(_ slot: Int) -> Bool {
            state.records[slot].isAlive && state.expiries[Slot(slot)] > now
        }
        while slot < state.slotCount {
            let record = state.records[slot]
            if isThere(slot) {
                let document = try engine.document(
                    creation: record.creation, change: record.change, in: snapshot)
                let isFirst = writer.count == start
                guard isFirst || writer.count - start + 1 + document.count <= maximumBytes else {
                    break
                }
                if !isFirst { writer.byte(UInt8(ascii: ",")) }
                writer.raw(document)
            }
            slot += 1
        }
        // Holes at the end are no objects.
        while slot < state.slotCount, !isThere(slot) { slot += 1 }
        nextSlot.withLock { $0 = slot }
        return slot < state.slotCount
    }
}

extension InMemoryEngine {
    public func export(_ bucket: BucketName) -> any BucketExport {
        SnapshotExport(engine: self, snapshot: snapshot, bucket: bucket)
    }
}
