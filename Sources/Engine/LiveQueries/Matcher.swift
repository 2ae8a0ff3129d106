import BackendContract
import JSONText
import Logging
import Objects
import QueryLanguage
import Runtime
import Synchronization

/// Compares neighbouring states and tells watches what has happened between them.
///
/// `@unchecked Sendable`: its jobs run on its thread, one after the other.
final class Matcher: @unchecked Sendable {
    let thread = WorkThread("watches")
    let backend: any Backend
    let limits: Limits
    let clock: ServiceClock
    let logger: Logger
    let queue: StateQueue
    /// Makes the lists of rankings.
    let lists: FairWorkers
    /// The last state that has been matched.
    let matched = Atomic<ChangeNumber>(0)
    let matchedWrites = Atomic(0)
    /// What tokens are made with, and read.
    let tokens = Mutex<ResumeTokenMaker?>(nil)

    // The matcher's thread alone uses what follows.

    /// What has been matched; nil while nobody watches.
    private(set) var moment: Moment?
    private(set) var history: (any StoreHistory)?
    var groups: [WatchTopic: WatchGroup] = [:]
    /// The groups by their numbers.
    var numbered: [WatchGroup?] = []
    var freeNumbers: [UInt32] = []
    var buckets: [BucketName: WatchedBucket] = [:]
    /// No later than the first expiry in a watched bucket.
    var nextExpiry = Int64.max
    /// The time for which the thread will wake up.
    var armedFor = Int64.max
    private var candidacy = 0
    /// The groups that the object which is being compared may concern.
    private var candidates: [WatchGroup] = []
    /// When states were last matched.
    private var advanced: MonotonicTime
    private var isObserving = false
    private(set) var isStopped = false
    /// How often another history has begun.
    private(set) var restorations = 0
    private let oldParser = JSONParser()
    private let newParser = JSONParser()

    /// What is watched of one bucket.
    struct WatchedBucket {
        /// The queries of sets, hysteresis and rankings.
        var index = WatchIndex()
        /// The pairs with a side in the bucket.
        var pairs: [UInt32] = []
        /// The groups with a circle that follows an object of the bucket.
        var followers: [ObjectID: [UInt32]] = [:]

        /// The number of groups that are tried for each write.
        var tried: Int { index.unindexed.count + pairs.count }

        var isEmpty: Bool { index.count == 0 && pairs.isEmpty && followers.isEmpty }
    }

    init(
        backend: any Backend, limits: Limits, clock: ServiceClock, logger: Logger,
        lists: FairWorkers
    ) {
        self.backend = backend
        self.limits = limits
        self.clock = clock
        advanced = clock.now
        self.logger = logger
        self.lists = lists
        let wakeup = Wakeup()
        queue = StateQueue(mostTouched: limits.watchBacklog, clock: clock) { wakeup.fire() }
        wakeup.connect(self)
    }

    // MARK: States

    /// The history, for other threads to ask.
    func historyNow() -> (any StoreHistory)? { history }

    /// What a watch begins with.
    struct Basis: Sendable {
        let moment: Moment
        let group: WatchGroup
        /// The query at the moment; nil if nothing can match.
        let query: Query?
        let members: Set<ChangeNumber>
        let couples: Couples
        let isCenterMissing: Bool
        /// How often the store had been restored.
        let restorations: Int
    }

    /// Matches everything that has become visible, and begins to observe if that is necessary.
    ///
    /// - Throws: `TEMPORARY_UNAVAILABLE_ERROR` if there is no state.
    func present() throws(ServiceFailure) -> Moment {
        observe()
        // The last watch may have ended in this step, and the observation with it.
        if moment == nil { observe() }
        guard let moment, !isStopped else {
            throw ServiceFailure(.temporarilyUnavailable, "the service cannot watch now; try again")
        }
        return moment
    }

    private func observe() {
        if !isObserving, !isStopped {
            isObserving = true
            backend.observe(queue)
        }
        advance()
    }

    /// Holds no state while nobody watches.
    func rest() {
        guard isObserving else { return }
        backend.endObservation()
        isObserving = false
        _ = queue.take()
        moment = nil
        nextExpiry = .max
    }

    /// Ends everything.
    func stop() {
        isStopped = true
        groups = [:]
        buckets = [:]
        numbered = []
        rest()
    }

    // MARK: States

    /// The shortest time between two steps, unless somebody waits. A step costs as much processor time
    /// as several moves, so a stream of small commits is matched some at a time.
    private static let pace = Duration.milliseconds(2)

    /// Matches what has become visible, not too soon after the last time.
    fileprivate func advanceInPace() {
        let wait = Self.pace - advanced.duration(to: clock.now)
        guard wait > .zero else { return advance() }
        thread.async(after: wait) { [weak self] in self?.advance() }
    }

    /// Matches everything that has become visible or has expired since the last time.
    func advance() {
        guard isObserving, !isStopped else { return }
        let news = queue.take()
        if let (state, history) = news.beginning { begin(with: state, of: history) }
        guard let former = moment, let history else { return }
        let time = max(former.time, history.now())
        guard news.last != nil || time >= nextExpiry else { return arm() }
        let next = Moment(state: news.last ?? former.state, time: time)
        if news.isOverfull {
            moment = next
            beginAgain(at: next, .slow, news.places)
        } else {
            var touched = news.touched { buckets[$0] != nil }
            if time >= nextExpiry { addExpired(to: &touched, former, next) }
            moment = next
            match(touched, news.places, from: former, to: next)
            for bucket in touched.keys { noteExpiry(in: bucket) }
        }
        matched.store(next.change, ordering: .releasing)
        advanced = clock.now
        arm()
    }

    /// The first state, or that of a store that has been restored.
    private func begin(with state: any PinnedState, of history: any StoreHistory) {
        let isRestored = moment != nil || !groups.isEmpty
        if isRestored || self.history !== history { restorations += 1 }
        self.history = history
        let moment = Moment(state: state, time: history.now())
        self.moment = moment
        if isRestored { beginAgain(at: moment, .restored) }
        matched.store(state.change, ordering: .releasing)
        let tokens = ResumeTokenMaker(of: history)
        self.tokens.withLock { $0 = tokens }
    }

    /// Lets every watch begin again.
    private func beginAgain(
        at moment: Moment, _ reason: ResyncReason, _ places: FollowedPlaces = FollowedPlaces()
    ) {
        for bucket in buckets.keys { noteExpiry(in: bucket) }
        for group in Array(groups.values) {
            let (hasMoved, hasComeOrGone) = group.follow(moment, places)
            if hasComeOrGone { tellWhetherCenterIsMissing(group) }
            if hasMoved { reindex(group) }
            beginAgain(group, at: moment, reason)
        }
    }

    private func beginAgain(_ group: WatchGroup, at moment: Moment, _ reason: ResyncReason) {
        group.events = []
        if reason == .restored, group.isRanking { group.ranking.list = nil }
        do throws(ServiceFailure) {
            // A node that begins another copy loads buckets after it has begun.
            try backend.placement?.check(areHeld: group.topic.buckets)
            if group.topic.pairs != nil {
                // They are found beside the thread when the client is told again.
                group.couples = Couples()
            } else {
                try establish(group, at: moment, continuing: [])
            }
        } catch {
            return end(group, error)
        }
        for (watch, session) in group.subscribers { session.resync(watch, reason) }
    }

    /// Finds out what belongs to a watch that remembers it, or lets a list be made.
    func establish(
        _ group: WatchGroup, at moment: Moment, continuing former: Set<ChangeNumber>,
        _ search: CoupleSearch? = nil
    ) throws(ServiceFailure) {
        if group.topic.pairs != nil {
            try establishPairs(group, at: moment, search)
        } else if group.topic.leaveRadius != nil {
            try establishMembers(group, at: moment, continuing: former)
        } else if group.isRanking {
            group.ranking.isStale = true
        }
    }

    // MARK: Matching

    private func match(
        _ touched: Touched, _ places: FollowedPlaces, from former: Moment, to next: Moment
    ) {
        var active: [WatchGroup] = []
        let (moved, movedPairs) = followCenters(touched, places, from: former, to: next, &active)
        for (bucket, creations) in touched {
            guard let watched = buckets[bucket] else { continue }
            matchedWrites.add(creations.count, ordering: .relaxed)
            let step = BucketStep(
                old: former.bucket(bucket), new: next.bucket(bucket), next: next)
            do throws(ServiceFailure) {
                for (creation, deletion) in creations {
                    try match(creation, deletion, step, watched, moved, &active)
                }
            } catch {
                lose(bucket, error)
            }
            for number in watched.pairs {
                guard let group = group(number) else { continue }
                matchPairs(group, creations, in: bucket, former, next, &active)
            }
        }
        for group in movedPairs { matchMovedPairs(group, former, next, &active) }
        for group in moved.values {
            matchMoved(group, touched[group.group.topic.bucket] ?? [:], former, next, &active)
        }
        var asleep: [WatchSession] = []
        for group in active { tell(group, next, &asleep) }
        // Together: an event loop then serves its connections in one round.
        for session in asleep { session.wakeUp() }
    }

    /// One step of one bucket.
    struct BucketStep {
        let old: (any PinnedBucket)?
        let new: (any PinnedBucket)?
        let next: Moment
    }

    /// Compares one object.
    ///
    /// - Parameter moved: the groups whose circles have moved, which are compared as a whole.
    private func match(
        _ creation: ChangeNumber, _ deletion: ChangeNumber?, _ step: BucketStep,
        _ watched: WatchedBucket, _ moved: [UInt32: MovedGroup], _ active: inout [WatchGroup]
    ) throws(ServiceFailure) {
        let old = step.old?.object(created: creation).map { ObjectFacts($0, oldParser) }
        let new = step.new?.object(created: creation).map { ObjectFacts($0, newParser) }
        guard old != nil || new != nil, old?.object.change != new?.object.change else { return }
        candidacy += 1
        candidates.removeAll(keepingCapacity: true)
        func add(_ number: UInt32) {
            guard let group = numbered[Int(number)], group.candidacy != candidacy,
                moved[number] == nil
            else { return }
            group.candidacy = candidacy
            candidates.append(group)
        }
        try watched.index.forEachCandidate(of: old, new, add)
        for group in candidates {
            if group.isRanking {
                group.ranking.isStale = true
                active.append(group)
            } else {
                try compare(group, creation, old, new, deletion, step.next, &active)
            }
        }
    }

    /// What cannot be compared is told as a whole.
    private func lose(_ bucket: BucketName, _ failure: ServiceFailure) {
        logger.error(
            "a state cannot be matched",
            metadata: ["bucket": "\(bucket.text)", "reason": "\(failure.message)"])
        guard let moment else { return }
        for group in Array(groups.values) where group.topic.buckets.contains(bucket) {
            // The documents of a state that is long past are not kept for ever.
            beginAgain(group, at: moment, failure.reason == .queryTimeout ? .slow : .restored)
        }
    }

    /// Tells the watches of a group what has happened in a step.
    ///
    /// - Parameter asleep: gets the sessions that have to be woken.
    private func tell(_ group: WatchGroup, _ next: Moment, _ asleep: inout [WatchSession]) {
        if group.isRanking {
            if group.ranking.isStale { schedule(group) }
            return
        }
        guard !group.events.isEmpty else { return }
        for (watch, session) in group.subscribers {
            if session.receive(watch, group.events, upTo: next.change) { asleep.append(session) }
        }
        group.events = []
    }
}

/// Wakes the matcher for its queue, which is created before the matcher.
private final class Wakeup: Sendable {
    private struct Target: Sendable { weak var matcher: Matcher? }

    private let target = Mutex(Target())

    func connect(_ matcher: Matcher) { target.withLock { $0.matcher = matcher } }

    func fire() {
        guard let matcher = target.withLock({ $0.matcher }) else { return }
        matcher.thread.async { [weak matcher] in matcher?.advanceInPace() }
    }
}
