import Backend
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
    let logger: Logger
    let queue: StateQueue
    /// Makes the lists of rankings.
    let lists: WorkThread
    /// The last state that has been matched.
    let matched = Atomic<ChangeNumber>(0)
    let matchedWrites = Atomic(0)
    /// What tokens are made with.
    let identity = Mutex<(tokens: ResumeTokenCodec, mark: [UInt8])?>(nil)

    // The matcher's thread alone uses what follows.

    /// What has been matched; nil while nobody watches.
    private(set) var moment: Moment?
    private(set) var history: (any StoreHistory)?
    private(set) var tokens: ResumeTokenCodec?
    var groups: [WatchTopic: WatchGroup] = [:]
    /// The groups by their numbers.
    private var numbered: [WatchGroup?] = []
    private var freeNumbers: [UInt32] = []
    private var buckets: [BucketName: WatchedBucket] = [:]
    /// No later than the first expiry in a watched bucket.
    private var nextExpiry = Int64.max
    /// The time for which the thread will wake up.
    private var armedFor = Int64.max
    private var candidacy = 0
    /// When states were last matched.
    private var advanced = ContinuousClock.now
    private var isObserving = false
    private var isStopped = false
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

        var isEmpty: Bool { index.count == 0 && pairs.isEmpty && followers.isEmpty }
    }

    init(backend: any Backend, limits: Limits, logger: Logger, lists: WorkThread) {
        self.backend = backend
        self.limits = limits
        self.logger = logger
        self.lists = lists
        let wakeup = Wakeup()
        queue = StateQueue { wakeup.fire() }
        wakeup.connect { [weak self] in
            guard let self else { return }
            thread.async { [weak self] in self?.advanceInPace() }
        }
    }

    // MARK: Groups

    /// What a watch begins with.
    struct Basis: Sendable {
        let moment: Moment
        let group: WatchGroup
        /// The query at the moment; nil if nothing can match.
        let query: Query?
        let members: Set<ChangeNumber>
        let couples: [Couples.Couple]
        let isCenterMissing: Bool
    }

    /// Matches everything that has become visible, and begins to observe if that is necessary.
    ///
    /// - Throws: `TEMPORARY_UNAVAILABLE_ERROR` if there is no state.
    func present() throws(ServiceFailure) -> Moment {
        if !isObserving, !isStopped {
            isObserving = true
            backend.observe(queue)
        }
        advance()
        guard let moment, !isStopped else {
            throw ServiceFailure(.temporarilyUnavailable, "the service cannot watch now; try again")
        }
        return moment
    }

    /// Adds a watch to the group of its topic, which is made if there is none.
    func subscribe(
        _ session: WatchSession, _ watch: Int, to topic: WatchTopic,
        continuing former: Set<ChangeNumber> = []
    ) throws(ServiceFailure) -> Basis {
        let moment = try present()
        if let group = groups[topic] {
            group.subscribers[watch] = session
            return basis(of: group, moment)
        }
        let group = try newGroup(topic, moment)
        group.subscribers[watch] = session
        do {
            try establish(group, at: moment, continuing: former)
        } catch {
            unsubscribe(watch, from: group)
            throw error
        }
        return basis(of: group, moment)
    }

    func basis(of group: WatchGroup, _ moment: Moment) -> Basis {
        Basis(
            moment: moment, group: group, query: group.isVoid ? nil : group.query,
            members: group.members, couples: group.couples.all,
            isCenterMissing: !group.missing.isEmpty)
    }

    private func newGroup(
        _ topic: WatchTopic, _ moment: Moment
    ) throws(ServiceFailure) -> WatchGroup {
        let number = freeNumbers.popLast() ?? UInt32(numbered.count)
        let group = WatchGroup(topic, number: number)
        _ = group.follow(moment)
        group.keys = group.presentKeys
        let unindexed = buckets[topic.bucket]?.index.unindexed.count ?? 0
        guard group.keys != nil || topic.pairs != nil || unindexed < limits.unindexedWatches else {
            freeNumbers.append(number)
            throw ServiceFailure(
                .tooManyRequests,
                "\(limits.unindexedWatches) queries of the bucket are watched already that have to "
                    + "be tried for each write: neither an area nor a value has to match",
                at: "bucketQuery.clause")
        }
        if Int(number) == numbered.count { numbered.append(nil) }
        numbered[Int(number)] = group
        groups[topic] = group
        enter(group)
        return group
    }

    private func enter(_ group: WatchGroup) {
        let topic = group.topic
        if let pairs = topic.pairs {
            for bucket in Set([topic.bucket, pairs.bucket]) {
                buckets[bucket, default: WatchedBucket()].pairs.append(group.number)
            }
        } else {
            buckets[topic.bucket, default: WatchedBucket()].index.insert(
                group.number, under: group.keys)
        }
        for center in topic.query.centers {
            buckets[center.bucket, default: WatchedBucket()]
                .followers[center.id, default: []].append(group.number)
        }
        for bucket in bucketsOf(topic) { noteExpiry(in: bucket) }
        arm()
    }

    private func bucketsOf(_ topic: WatchTopic) -> Set<BucketName> {
        Set(
            [topic.bucket] + topic.query.centers.map(\.bucket)
                + [topic.pairs?.bucket].compactMap(\.self))
    }

    /// Removes a watch, and its group if no other watch is left.
    func unsubscribe(_ watch: Int, from group: WatchGroup) {
        guard !isStopped, group.subscribers.removeValue(forKey: watch) != nil,
            group.subscribers.isEmpty
        else { return }
        let topic = group.topic
        groups[topic] = nil
        numbered[Int(group.number)] = nil
        freeNumbers.append(group.number)
        if topic.pairs == nil {
            buckets[topic.bucket]?.index.remove(group.number, under: group.keys)
        }
        for center in topic.query.centers {
            buckets[center.bucket]?.followers[center.id]?.removeAll { $0 == group.number }
            if buckets[center.bucket]?.followers[center.id]?.isEmpty == true {
                buckets[center.bucket]?.followers[center.id] = nil
            }
        }
        for bucket in bucketsOf(topic) {
            buckets[bucket]?.pairs.removeAll { $0 == group.number }
            if buckets[bucket]?.isEmpty == true { buckets[bucket] = nil }
        }
        if groups.isEmpty { rest() }
    }

    /// Holds no state while nobody watches.
    private func rest() {
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
    private func advanceInPace() {
        let wait = Self.pace - (.now - advanced)
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
        let last = news.steps.last?.state
        guard last != nil || time >= nextExpiry else { return arm() }
        let next = Moment(state: last ?? former.state, time: time)
        var touched = Touched()
        for step in news.steps {
            step.forEachTouched { bucket, creation, deletion in
                guard buckets[bucket] != nil else { return }
                touched[bucket, default: [:]].updateValue(deletion, forKey: creation)
            }
        }
        if time >= nextExpiry { addExpired(to: &touched, former, next) }
        moment = next
        match(touched, from: former, to: next)
        for bucket in touched.keys { noteExpiry(in: bucket) }
        matched.store(next.change, ordering: .releasing)
        advanced = .now
        arm()
    }

    /// Objects that were touched, by the changes that created them, and what deleted them.
    typealias Touched = [BucketName: [ChangeNumber: ChangeNumber?]]

    /// The first state, or that of a store that has been restored.
    private func begin(with state: any HeldState, of history: any StoreHistory) {
        let isRestored = moment != nil || !groups.isEmpty
        self.history = history
        tokens = ResumeTokenCodec(secret: history.secret)
        identity.withLock { [tokens] in $0 = tokens.map { ($0, history.mark) } }
        let moment = Moment(state: state, time: history.now())
        self.moment = moment
        matched.store(state.change, ordering: .releasing)
        guard isRestored else { return }
        for bucket in buckets.keys { noteExpiry(in: bucket) }
        for group in Array(groups.values) {
            if group.follow(moment).hasMoved { reindex(group) }
            restore(group, at: moment)
        }
    }

    private func restore(_ group: WatchGroup, at moment: Moment) {
        do throws(ServiceFailure) {
            try establish(group, at: moment, continuing: [])
        } catch {
            return end(group, error)
        }
        for (watch, session) in group.subscribers { session.resync(watch, .restored) }
    }

    /// Finds out what belongs to a watch that remembers it, or lets a list be made.
    private func establish(
        _ group: WatchGroup, at moment: Moment, continuing former: Set<ChangeNumber>
    ) throws(ServiceFailure) {
        if group.topic.pairs != nil {
            try establishPairs(group, at: moment)
        } else if group.topic.leaveRadius != nil {
            try establishMembers(group, at: moment, continuing: former)
        } else if group.topic.query.isRanking {
            group.ranking.isStale = true
        }
    }

    /// The history, for other threads to ask.
    func historyNow() -> (any StoreHistory)? { history }

    /// Lets a group that remembers what belongs to it forget it: its client begins again.
    func restart(_ group: WatchGroup, at moment: Moment) throws(ServiceFailure) {
        if group.topic.remembersObjects { try establish(group, at: moment, continuing: []) }
    }

    /// Moves a watch from its group to that of another topic.
    ///
    /// - Parameter body: changes the watch at the moment of the move.
    /// - Returns: what it had and what it has at that moment; nil if the watch is gone.
    func move(
        _ session: WatchSession, _ watch: Int, to topic: WatchTopic,
        _ body: (ClientWatch) -> Void
    ) throws(ServiceFailure) -> (old: Basis, new: Basis)? {
        let moment = try present()
        guard let former = session.change(watch, { $0.group }) ?? nil else { return nil }
        let old = basis(of: former, moment)
        guard former.topic != topic else {
            session.change(watch, body)
            return (old, old)
        }
        // A watch that remembers what belongs to it has one group at a time.
        let new = try subscribe(session, watch, to: topic, continuing: old.members)
        unsubscribe(watch, from: former)
        session.change(watch) { client in
            client.group = new.group
            body(client)
        }
        return (old, new)
    }

    /// A group by the number that the index has.
    func group(_ number: UInt32) -> WatchGroup? { numbered[Int(number)] }

    /// The groups with a circle that follows one of the touched objects.
    func followers(of touched: Touched, _ former: Moment, _ next: Moment) -> [WatchGroup] {
        var found: [UInt32: WatchGroup] = [:]
        for (bucket, creations) in touched {
            guard let followers = buckets[bucket]?.followers, !followers.isEmpty else { continue }
            let (old, new) = (former.bucket(bucket), next.bucket(bucket))
            for creation in creations.keys {
                let object = new?.object(created: creation) ?? old?.object(created: creation)
                guard let object else { continue }
                for number in followers[object.id] ?? [] { found[number] = group(number) }
            }
        }
        return Array(found.values)
    }

    /// Enters a group under its present keys.
    func reindex(_ group: WatchGroup) {
        let keys = group.presentKeys
        guard keys != group.keys, group.topic.pairs == nil else { return }
        buckets[group.topic.bucket]?.index.remove(group.number, under: group.keys)
        group.keys = keys
        buckets[group.topic.bucket]?.index.insert(group.number, under: keys)
    }

    /// Ends a group's watches.
    func end(_ group: WatchGroup, _ failure: ServiceFailure) {
        for (watch, session) in group.subscribers {
            session.fail(watch, failure)
            unsubscribe(watch, from: group)
        }
    }

    // MARK: Expiry

    private func addExpired(to touched: inout Touched, _ former: Moment, _ next: Moment) {
        nextExpiry = .max
        for bucket in buckets.keys {
            for creation in former.state.bucket(bucket, at: next.time)?.expired ?? []
            where touched[bucket]?[creation] == nil {
                touched[bucket, default: [:]].updateValue(nil, forKey: creation)
            }
        }
        // The next one is found among all of them.
        for bucket in buckets.keys { noteExpiry(in: bucket, at: next) }
    }

    private func noteExpiry(in bucket: BucketName) {
        if let moment { noteExpiry(in: bucket, at: moment) }
    }

    private func noteExpiry(in bucket: BucketName, at moment: Moment) {
        if let next = moment.bucket(bucket)?.nextExpiry { nextExpiry = min(nextExpiry, next) }
    }

    /// The longest time that the thread sleeps before it looks at the clock again.
    private static let longestSleep: Int64 = 60_000

    private func arm() {
        guard nextExpiry != .max, nextExpiry < armedFor, let history else { return }
        armedFor = nextExpiry
        let wait = min(max(nextExpiry - history.now(), 1), Self.longestSleep)
        thread.async(after: .milliseconds(wait)) { [weak self] in
            guard let self else { return }
            armedFor = .max
            advance()
        }
    }

    // MARK: Matching

    private func match(_ touched: Touched, from former: Moment, to next: Moment) {
        var active: [WatchGroup] = []
        let (moved, movedPairs) = followCenters(touched, from: former, to: next, &active)
        for (bucket, creations) in touched {
            guard let watched = buckets[bucket] else { continue }
            matchedWrites.add(creations.count, ordering: .relaxed)
            let step = BucketStep(
                old: former.bucket(bucket), new: next.bucket(bucket), next: next)
            do throws(ServiceFailure) {
                for (creation, deletion) in creations {
                    try match(creation, deletion, step, watched, moved, &active)
                }
                for number in watched.pairs {
                    guard let group = group(number) else { continue }
                    try matchPairs(group, creations, in: bucket, former, next, &active)
                }
            } catch {
                lose(bucket, error)
            }
        }
        for group in movedPairs {
            do throws(ServiceFailure) {
                let first = try firstSide(of: group, at: next)
                try matchPairs(group, first, in: group.topic.bucket, former, next, &active)
            } catch {
                lose(group.topic.bucket, error)
            }
        }
        for group in moved.values {
            matchMoved(group, touched[group.group.topic.bucket] ?? [:], former, next, &active)
        }
        for group in active { tell(group, next) }
    }

    /// One step of one bucket.
    struct BucketStep {
        let old: (any HeldBucket)?
        let new: (any HeldBucket)?
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
        var candidates: [WatchGroup] = []
        func add(_ number: UInt32) {
            guard let group = numbered[Int(number)], group.candidacy != candidacy,
                moved[number] == nil
            else { return }
            group.candidacy = candidacy
            candidates.append(group)
        }
        if let old { try watched.index.forEachCandidate(of: old, add) }
        if let new { try watched.index.forEachCandidate(of: new, add) }
        for group in candidates {
            if group.topic.query.isRanking {
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
        for group in Array(groups.values) where bucketsOf(group.topic).contains(bucket) {
            group.events = []
            restore(group, at: moment)
        }
    }

    /// Tells the watches of a group what has happened in a step.
    private func tell(_ group: WatchGroup, _ next: Moment) {
        if group.topic.query.isRanking {
            if group.ranking.isStale { schedule(group) }
            return
        }
        guard !group.events.isEmpty else { return }
        for (watch, session) in group.subscribers {
            session.receive(watch, group.events, upTo: next.change)
        }
        group.events = []
    }
}

/// Wakes what exists only after it has been made.
private final class Wakeup: Sendable {
    private let body = Mutex<(@Sendable () -> Void)?>(nil)

    func connect(_ body: @escaping @Sendable () -> Void) { self.body.withLock { $0 = body } }

    func fire() { body.withLock { $0 }?() }
}
