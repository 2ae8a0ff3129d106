import Backend
import DequeModule
import Synchronization

/// Documents as clients read them, in memory up to a number of bytes.
///
/// Sixteen shards with a lock each. Within a shard the document that was put first leaves first,
/// unless it has been read since: then it goes round once more (the clock, or second-chance, rule).
final class DocumentCache: Sendable {
    private let shards: [Shard]

    init(capacityBytes: Int) {
        shards = (0..<16).map { _ in Shard(capacityBytes: capacityBytes / 16) }
    }

    /// The document that a change wrote, if it is here.
    func document(creation: ChangeNumber, change: ChangeNumber) -> [UInt8]? {
        shard(creation).document(creation, change)
    }

    func put(_ document: [UInt8], creation: ChangeNumber, change: ChangeNumber) {
        shard(creation).put(document, creation, change)
    }

    func remove(creation: ChangeNumber) { shard(creation).remove(creation) }

    var bytes: Int { shards.reduce(0) { $0 + $1.bytes } }

    private func shard(_ creation: ChangeNumber) -> Shard { shards[Int(creation & 15)] }

    private final class Shard: Sendable {
        private struct Entry {
            var document: [UInt8]
            var change: ChangeNumber
            var read = false
        }

        private struct State {
            var entries: [ChangeNumber: Entry] = [:]
            var queue: Deque<ChangeNumber> = []
            var bytes = 0
        }

        private let capacityBytes: Int
        private let state = Mutex(State())

        /// What a document takes besides its own bytes: array header, table and queue cells.
        private static let overheadBytes = 96

        init(capacityBytes: Int) { self.capacityBytes = capacityBytes }

        var bytes: Int { state.withLock { $0.bytes } }

        func document(_ creation: ChangeNumber, _ change: ChangeNumber) -> [UInt8]? {
            state.withLock { state in
                guard let index = state.entries.index(forKey: creation),
                    state.entries.values[index].change == change
                else { return nil }
                state.entries.values[index].read = true
                return state.entries.values[index].document
            }
        }

        func put(_ document: [UInt8], _ creation: ChangeNumber, _ change: ChangeNumber) {
            state.withLock { state in
                if let old = state.entries[creation] {
                    // A slow reader must not put back what a writer has replaced.
                    guard old.change < change else { return }
                    state.bytes -= old.document.count + Self.overheadBytes
                } else {
                    state.queue.append(creation)
                }
                state.entries[creation] = Entry(document: document, change: change)
                state.bytes += document.count + Self.overheadBytes
                while state.bytes > capacityBytes { Self.evictOne(&state) }
            }
        }

        func remove(_ creation: ChangeNumber) {
            state.withLock { state in
                guard let old = state.entries.removeValue(forKey: creation) else { return }
                state.bytes -= old.document.count + Self.overheadBytes
                if state.queue.count > 2 * state.entries.count + 64 {
                    let entries = state.entries
                    state.queue.removeAll { entries[$0] == nil }
                }
            }
        }

        private static func evictOne(_ state: inout State) {
            guard let oldest = state.queue.popFirst() else { return }
            guard let entry = state.entries[oldest] else { return }
            if entry.read {
                state.entries[oldest]!.read = false
                state.queue.append(oldest)
            } else {
                state.entries[oldest] = nil
                state.bytes -= entry.document.count + overheadBytes
            }
        }
    }
}
