import Backend
import JSONText
import Objects
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
        state = snapshot.bucket(bucket) ?? BucketState()
    }

    func next(
        maximumBytes: Int, into writer: inout JSONWriter
    ) throws(ServiceFailure) -> Bool {
        let start = writer.count
        var slot = nextSlot.withLock { $0 }
        while slot < state.slotCount {
            let record = state.records[slot]
            if record.isAlive {
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
        while slot < state.slotCount, !state.records[slot].isAlive { slot += 1 }
        nextSlot.withLock { $0 = slot }
        return slot < state.slotCount
    }
}

extension InMemoryEngine {
    public func export(_ bucket: BucketName) -> any BucketExport {
        SnapshotExport(engine: self, snapshot: snapshot, bucket: bucket)
    }
}
