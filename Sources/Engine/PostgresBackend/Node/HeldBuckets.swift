import BackendContract
import DequeModule
import Objects
import Runtime
import Synchronization

/// The buckets that one life of a node holds, and those on their way in and out. A bucket without an
/// entry is absent.
///
///     absent -> wanted -> loading -> held <-> leaving -> absent
///
/// A bucket that is leaving is held: it is followed, and answers. The writer's thread alone makes a
/// bucket held, and absent again, so nothing changes between what a transaction of the writer fetches
/// and what it judges.
final class HeldBuckets: Sendable {
    private enum Stage {
        case wanted(isUrgent: Bool)
        case loading, held
        case leaving(since: MonotonicTime)
        /// It does not fit.
        case refused(String, until: MonotonicTime)
    }

    private struct State {
        var stages: [BucketName: Stage] = [:]
        /// The number of the loading that made a bucket held.
        var tickets: [BucketName: Int] = [:]
        /// Those that a request waits for come first.
        var queue: Deque<BucketName> = []
        var loads = 0
        var releases = 0
    }

    private let state: Mutex<State>
    private let clock: ServiceClock

    /// - Parameter names: the buckets that are there at the beginning.
    init(_ names: [BucketName], clock: ServiceClock) {
        var state = State()
        for name in names {
            state.stages[name] = .held
            state.tickets[name] = 0
        }
        self.state = Mutex(state)
        self.clock = clock
    }

    // MARK: Looking

    /// Whether a bucket is followed, and answers.
    func holds(_ bucket: BucketName) -> Bool { ticket(of: bucket) != nil }

    /// Identifies the stay of a bucket; nil if it is not held. Who finds the same ticket before and
    /// after a look at the bucket has looked at a held bucket.
    func ticket(of bucket: BucketName) -> Int? { state.withLock { $0.tickets[bucket] } }

    /// The buckets that are held.
    var names: Set<BucketName> { state.withLock { Set($0.tickets.keys) } }

    /// Why a bucket is not loaded; nil if it is or will be.
    func refusal(of bucket: BucketName) -> String? {
        state.withLock { state in
            guard case .refused(let reason, _) = state.stages[bucket] else { return nil }
            return reason
        }
    }

    /// The number of buckets that are to be loaded or are being loaded.
    var loading: Int {
        state.withLock { state in
            state.stages.values.count {
                switch $0 {
                case .wanted, .loading: true
                default: false
                }
            }
        }
    }

    var statistics: ShareStatistics {
        state.withLock { state in
            var statistics = ShareStatistics()
            statistics.held = state.tickets.count
            for stage in state.stages.values {
                switch stage {
                case .wanted, .loading: statistics.loading += 1
                case .refused: statistics.refused += 1
                case .held, .leaving: break
                }
            }
            statistics.loads = state.loads
            statistics.releases = state.releases
            return statistics
        }
    }

    // MARK: In

    /// Notes that a bucket is to be loaded, unless it is on its way or refused.
    ///
    /// - Returns: whether that is new.
    func want(_ bucket: BucketName, isUrgent: Bool = false) -> Bool {
        state.withLock { state in
            switch state.stages[bucket] {
            case nil: break
            case .refused(_, let end) where end <= clock.now: break
            case .wanted(isUrgent: false) where isUrgent:
                state.stages[bucket] = .wanted(isUrgent: true)
                state.queue.prepend(bucket)
                return false
            default: return false
            }
            state.stages[bucket] = .wanted(isUrgent: isUrgent)
            if isUrgent { state.queue.prepend(bucket) } else { state.queue.append(bucket) }
            return true
        }
    }

    /// The buckets to be loaded next, which are loading from now on.
    func takeWanted(atMost count: Int) -> [BucketName] {
        state.withLock { state in
            var taken: [BucketName] = []
            while taken.count < count, let next = state.queue.popFirst() {
                guard case .wanted = state.stages[next] else { continue }
                state.stages[next] = .loading
                taken.append(next)
            }
            return taken
        }
    }

    /// Notes on the writer's thread that buckets have the state of the node.
    func joined(_ buckets: [BucketName]) {
        state.withLock { state in
            for bucket in buckets {
                state.loads += 1
                state.stages[bucket] = .held
                state.tickets[bucket] = state.loads
            }
        }
    }

    /// Notes that a loading has failed. It will be tried again.
    func failed(_ buckets: [BucketName]) {
        state.withLock { state in
            for bucket in buckets {
                guard case .loading = state.stages[bucket] else { continue }
                state.stages[bucket] = .wanted(isUrgent: false)
                state.queue.append(bucket)
            }
        }
    }

    /// Notes that a bucket does not fit. It is not tried again for some time.
    func refuse(_ bucket: BucketName, _ reason: String, for time: Duration) {
        let end = clock.now.advanced(by: time)
        state.withLock { $0.stages[bucket] = .refused(reason, until: end) }
    }

    // MARK: Out

    /// Looks again at which buckets are to be held.
    func revise(_ isToBeHeld: (BucketName) -> Bool) {
        let now = clock.now
        state.withLock { state in
            for (bucket, stage) in state.stages {
                switch (stage, isToBeHeld(bucket)) {
                case (.held, false): state.stages[bucket] = .leaving(since: now)
                case (.leaving, true): state.stages[bucket] = .held
                case (.wanted, false), (.refused, false): state.stages[bucket] = nil
                default: break
                }
            }
        }
    }

    /// The buckets that have been leaving for some time.
    func leaving(for time: Duration) -> [BucketName] {
        let now = clock.now
        return state.withLock { state in
            state.stages.compactMap { bucket, stage in
                guard case .leaving(let begin) = stage, begin.advanced(by: time) <= now else {
                    return nil
                }
                return bucket
            }
        }
    }

    /// Notes on the writer's thread that a bucket is no longer followed, unless it is to stay.
    ///
    /// - Parameter isPinned: whether it has been pinned meanwhile. Who pins a bucket before asking
    ///   whether it is held can rely on the answer.
    /// - Returns: whether it is not followed.
    func release(_ bucket: BucketName, unless isPinned: (BucketName) -> Bool) -> Bool {
        state.withLock { state in
            guard case .leaving = state.stages[bucket] else { return false }
            guard !isPinned(bucket) else {
                state.stages[bucket] = .held
                return false
            }
            state.stages[bucket] = nil
            state.tickets[bucket] = nil
            state.releases += 1
            return true
        }
    }

    /// Lets those leave that satisfy a condition.
    func leave(where condition: (BucketName) -> Bool) {
        let now = clock.now
        state.withLock { state in
            for (bucket, stage) in state.stages {
                if case .held = stage, condition(bucket) {
                    state.stages[bucket] = .leaving(since: now)
                }
            }
        }
    }
}
