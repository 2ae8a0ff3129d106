import Backend
import Dispatch
import Objects
import Synchronization

/// Renumberings of buckets with many holes, run beside the writer.
///
/// A compaction starts from a published state. What the writer changes meanwhile is noted, and done
/// again on the renumbered state: here, round by round, until little is left, and that little by
/// the writer when it takes the result. So no write waits for more than some changes.
final class Compactions: Sendable {
    struct Finished {
        let bucket: BucketName
        let state: BucketState
    }

    private struct UnderWay {
        let number: Int
        /// What the writer changed and the renumbered state has not yet.
        var changes: [Change] = []
        /// The renumbered state, once it waits for the writer.
        var state: BucketState?
    }

    private struct State {
        var underWay: [BucketName: UnderWay] = [:]
        var started = 0
    }

    private let state = Mutex(State())
    private let queue = DispatchQueue(label: "geobucket.compaction", qos: .utility)
    private let ready: @Sendable () -> Void

    /// So many changes the writer does again itself.
    private static let fewChanges = 128

    init(ready: @escaping @Sendable () -> Void) { self.ready = ready }

    /// Starts the compaction of a published state, unless one of the bucket is under way.
    func start(_ bucket: BucketState, of name: BucketName) {
        let number = state.withLock { state -> Int? in
            guard state.underWay[name] == nil else { return nil }
            state.started += 1
            state.underWay[name] = UnderWay(number: state.started)
            return state.started
        }
        guard let number else { return }
        queue.async { [self] in
            var compacted = bucket.compacted()
            while let changes = nextChanges(of: name, number, &compacted) {
                for change in changes { compacted.repeat(change) }
            }
        }
    }

    /// The changes to be done again before the state can wait for the writer. Nil when it waits, or
    /// when the bucket has been deleted.
    private func nextChanges(
        of name: BucketName, _ number: Int, _ compacted: inout BucketState
    ) -> [Change]? {
        let (changes, waits) = state.withLock { state -> ([Change]?, Bool) in
            guard state.underWay[name]?.number == number else { return (nil, false) }
            if state.underWay[name]!.changes.count > Self.fewChanges {
                defer { state.underWay[name]!.changes = [] }
                return (state.underWay[name]!.changes, false)
            }
            state.underWay[name]!.state = compacted
            compacted = BucketState()
            return (nil, true)
        }
        if waits { ready() }
        return changes
    }

    /// Notes what the writer has changed; a deleted bucket's compaction ends.
    func note(_ changes: [Change]) {
        state.withLock { state in
            guard !state.underWay.isEmpty else { return }
            for change in changes {
                if case .deleteBucket(let name) = change {
                    state.underWay[name] = nil
                } else {
                    state.underWay[change.bucket]?.changes.append(change)
                }
            }
        }
    }

    /// The renumbered states that wait, with everything that has been noted.
    func finished() -> [Finished] {
        let waiting = state.withLock { state in
            let waiting = state.underWay.filter { $0.value.state != nil }
            for name in waiting.keys { state.underWay[name] = nil }
            return waiting
        }
        return waiting.map { name, compaction in
            var state = compaction.state!
            for change in compaction.changes { state.repeat(change) }
            return Finished(bucket: name, state: state)
        }
    }
}

extension BucketState {
    fileprivate mutating func `repeat`(_ change: Change) {
        switch change {
        case .upsert(let object, _): apply(object)
        case .delete(_, let creations): for creation in creations { delete(created: creation) }
        case .deleteBucket: preconditionFailure("the compaction of a deleted bucket goes on")
        }
    }
}
