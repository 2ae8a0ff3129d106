import BackendContract
import Objects
import Runtime
import Synchronization

/// Objects that were touched, by the changes that created them, and what deleted them.
typealias Touched = [BucketName: [ChangeNumber: ChangeNumber?]]

/// The states that became visible and have not been matched yet.
///
/// The writer's thread adds to it. It keeps some steps as they are. If more come before the matcher
/// takes them, only the last state is kept, and which objects were touched; and if these are too
/// many, only the last state.
final class StateQueue: StateObserver {
    /// What has happened since the queue was last asked.
    struct News {
        /// The first state of another history, if there is one.
        var beginning: (state: any PinnedState, history: any StoreHistory)?
        /// What followed, the oldest first.
        var steps: [any StateStep] = []
        /// What was touched after these.
        var touched: Touched = [:]
        /// Where followed objects were.
        var places = FollowedPlaces()
        /// The number of objects that steps after the first few have touched.
        var touchedCount = 0
        /// Whether more was touched than the queue remembers.
        var isOverfull = false
        /// The last state; nil if none has followed.
        var last: (any PinnedState)?
        /// When the oldest of these was added, in nanoseconds of the monotonic clock.
        var since: Int64 = 0
    }

    private let news = Mutex(News())
    /// The objects whose places are noted.
    private let followed = Mutex<[BucketName: Set<ObjectID>]>([:])
    private let wake: @Sendable () -> Void
    private let mostTouched: Int
    private let clock: ServiceClock

    /// The steps that are kept as they are.
    private static let mostSteps = 16
    /// A step that touches more objects is kept as it is, because the writer waits meanwhile.
    private static let largeStep = 1_000

    /// - Parameters:
    ///   - mostTouched: the most objects that are remembered besides these steps.
    ///   - wake: called when there is something, once until it is taken.
    init(
        mostTouched: Int, clock: ServiceClock = ServiceClock(),
        wake: @escaping @Sendable () -> Void
    ) {
        self.mostTouched = mostTouched
        self.clock = clock
        self.wake = wake
    }

    func begins(with state: any PinnedState, of history: any StoreHistory) {
        add { news in
            let since = news.since
            news = News()
            news.beginning = (state, history)
            news.since = since
        }
    }

    func follows(_ state: any PinnedState, after step: any StateStep) {
        // Those in between need not be held.
        var former: (any PinnedState)?
        let followed = followed.withLock { $0 }
        add { news in
            former = news.last
            news.last = state
            if !followed.isEmpty { news.places.note(step, of: followed) }
            if news.steps.count < Self.mostSteps {
                news.steps.append(step)
            } else if !news.isOverfull {
                if step.touchedCount > Self.largeStep {
                    news.appendLarge(step)
                } else {
                    news.merge(step)
                }
                if news.touchedCount > mostTouched { news.forgetTouched() }
            }
        }
        // What it alone refers to is freed outside the lock.
        withExtendedLifetime(former) {}
    }

    /// Begins to note the places of an object, or ends it.
    func follow(_ id: ObjectID, in bucket: BucketName, _ isFollowed: Bool) {
        followed.withLock { followed in
            if isFollowed {
                followed[bucket, default: []].insert(id)
            } else {
                followed[bucket]?.remove(id)
                if followed[bucket]?.isEmpty == true { followed[bucket] = nil }
            }
        }
    }

    private func add(_ body: (inout News) -> Void) {
        let isFirst = news.withLock { news in
            let isFirst = news.beginning == nil && news.last == nil
            if isFirst { news.since = clock.nanoseconds() }
            body(&news)
            return isFirst
        }
        if isFirst { wake() }
    }

    /// Takes everything.
    func take() -> News {
        news.withLock { news in
            defer { news = News() }
            return news
        }
    }

    /// The number of the last state that waits, and how long the first has waited, in milliseconds;
    /// nil if none waits.
    var waiting: (change: ChangeNumber, milliseconds: Int64)? {
        news.withLock { news in
            guard let last = news.last else { return nil }
            return (last.change, (clock.nanoseconds() - news.since) / 1_000_000)
        }
    }
}

/// What several steps have touched.
private struct MergedStep: StateStep {
    let touched: Touched

    var touchedCount: Int { touched.values.reduce(0) { $0 + $1.count } }

    func forEachTouched(
        _ body: (BucketName, _ creation: ChangeNumber, _ deletion: ChangeNumber?) -> Void
    ) {
        for (bucket, creations) in touched {
            for (creation, deletion) in creations { body(bucket, creation, deletion) }
        }
    }

    /// The queue has noted the places.
    func forEachPlaced(in bucket: BucketName, _ body: (ObjectID, [FieldPoint]) -> Void) {}
}

extension StateQueue.News {
    fileprivate mutating func merge(_ step: any StateStep) {
        step.forEachTouched { bucket, creation, deletion in
            let former = touched[bucket, default: [:]].updateValue(deletion, forKey: creation)
            if former == nil { touchedCount += 1 }
        }
    }

    /// Appends a step behind everything that was touched before it.
    fileprivate mutating func appendLarge(_ step: any StateStep) {
        if !touched.isEmpty { steps.append(MergedStep(touched: touched)) }
        touched = [:]
        touchedCount += step.touchedCount
        steps.append(step)
    }

    fileprivate mutating func forgetTouched() {
        isOverfull = true
        (steps, touched, touchedCount) = ([], [:], 0)
    }

    /// Everything that was touched in some buckets.
    func touched(in isWatched: (BucketName) -> Bool) -> Touched {
        var all: Touched = [:]
        for step in steps {
            step.forEachTouched { bucket, creation, deletion in
                guard isWatched(bucket) else { return }
                all[bucket, default: [:]].updateValue(deletion, forKey: creation)
            }
        }
        for (bucket, creations) in touched where isWatched(bucket) {
            all[bucket, default: [:]].merge(creations) { _, later in later }
        }
        return all
    }
}
