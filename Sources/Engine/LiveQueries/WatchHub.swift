import BackendContract
import Dispatch
import Logging
import Objects
import Runtime
import Synchronization

/// All watches of a service.
///
///     let hub = WatchHub(backend: backend, limits: limits, logger: logger)
///     let session = hub.session(of: principal) { eventLoop.execute { connection.drain() } }
///     let watch = try session.start(request, until: nil)
///     session.open(watch.name)
///     while session.next(into: &writer) { … }
///
/// A thread of its own compares each state that becomes visible with the one before. It finds the
/// watches that this may concern by an index of the watches, and asks their clauses of both states.
/// Other threads, which the owners of watches share fairly, make snapshots and lists. Writers wait for
/// none of them.
public final class WatchHub: Sendable {
    private struct Sessions {
        var all: [ObjectIdentifier: WatchSession] = [:]
        /// Whether `beat` is scheduled.
        var areBeating = false
    }

    let limits: Limits
    let clock: ServiceClock
    let logger: Logger
    let matcher: Matcher
    /// Makes what may take long: snapshots and the lists of rankings. Of two threads an owner gets one
    /// at a time, so what a session has made is made in order, and others are not kept waiting.
    let lists = FairWorkers("watch lists", .costlyReads, threads: 2)
    private let backend: any Backend
    private let sessions = Mutex(Sessions())
    private let watches = Atomic(0)
    private let lastNumber = Atomic(0)
    private let isStopped = Atomic(false)
    let eventsSent = Atomic(0)
    let resyncs = Atomic(0)

    /// A hub without watches. It observes the back end while there is a watch.
    public init(
        backend: any Backend, limits: Limits, clock: ServiceClock = ServiceClock(), logger: Logger
    ) {
        self.backend = backend
        self.limits = limits
        self.clock = clock
        self.logger = logger
        matcher = Matcher(
            backend: backend, limits: limits, clock: clock, logger: logger, lists: lists)
    }

    /// The watches of one connection.
    ///
    /// - Parameters:
    ///   - owner: with whom it shares the threads that make snapshots and lists.
    ///   - wake: called on any thread when `next` of the session has become worth calling.
    public func session(
        of owner: String, wake: @escaping @Sendable () -> Void
    ) -> WatchSession {
        let session = WatchSession(hub: self, owner: owner, wake: wake)
        let isFirst = sessions.withLock { sessions in
            sessions.all[ObjectIdentifier(session)] = session
            defer { sessions.areBeating = true }
            return !sessions.areBeating
        }
        if isFirst { beat() }
        return session
    }

    func forget(_ session: WatchSession) {
        sessions.withLock { $0.all[ObjectIdentifier(session)] = nil }
    }

    /// The counts of all watches.
    public func statistics() -> WatchStatistics {
        var statistics = WatchStatistics()
        statistics.watches = watches.load(ordering: .relaxed)
        statistics.events = eventsSent.load(ordering: .relaxed)
        statistics.matchedWrites = matcher.matchedWrites.load(ordering: .relaxed)
        statistics.resyncs = resyncs.load(ordering: .relaxed)
        if let waiting = matcher.queue.waiting {
            let matched = matcher.matched.load(ordering: .relaxed)
            statistics.changesBehind = waiting.change > matched ? waiting.change - matched : 0
            statistics.millisecondsBehind = waiting.milliseconds
        }
        return statistics
    }

    /// Ends every watch. It returns when nothing of it runs any more.
    public func stop() {
        isStopped.store(true, ordering: .relaxed)
        let failure = ServiceFailure(.temporarilyUnavailable, "the service stops")
        for session in sessions.withLock({ Array($0.all.values) }) {
            session.end(failure) { _ in false }
        }
        matcher.thread.sync { matcher.stop() }
        lists.drain()
        matcher.thread.drain()
    }

    /// Matches what has expired by now. The hub does so by itself; tests have clocks of their own.
    package func look() { matcher.thread.sync { matcher.advance() } }

    // MARK: Watches

    /// Counts a watch.
    ///
    /// - Returns: its number.
    func reserve(besides others: Int) throws(ServiceFailure) -> Int {
        func refuse(_ limit: Int, _ name: String, _ whose: String) throws(ServiceFailure) {
            throw ServiceFailure(
                .tooManyRequests, "\(whose) \(limit) watches already (\(name))")
        }
        guard !isStopped.load(ordering: .relaxed) else {
            throw ServiceFailure(.temporarilyUnavailable, "the service stops")
        }
        if others >= limits.watchesPerConnection {
            try refuse(limits.watchesPerConnection, "watchesPerConnection", "the connection has")
        }
        guard watches.add(1, ordering: .relaxed).newValue <= limits.watches else {
            release()
            try refuse(limits.watches, "watches", "the service has")
            return 0
        }
        return lastNumber.add(1, ordering: .relaxed).newValue
    }

    /// Keeps the buckets of a watch on this node; nil if all buckets are.
    ///
    /// - Throws: `TEMPORARY_UNAVAILABLE_ERROR` while the node loads one of them, or if it does not fit.
    func pin(_ buckets: [BucketName]) throws(ServiceFailure) -> BucketPin? {
        guard let placement = backend.placement else { return nil }
        let pin = BucketPin(buckets, in: placement)
        try placement.check(areHeld: buckets)
        return pin
    }

    /// Uncounts a watch.
    func release() { watches.subtract(1, ordering: .relaxed) }

    /// Waits until a read may begin.
    func awaitState() throws(ServiceFailure) {
        try waiting { [backend] ready in
            if backend.mayRead(1, atLeast: nil, ready) { ready(nil) }
        }
    }

    /// Waits until the back end has everything that was answered before, anywhere.
    func awaitLatest() throws(ServiceFailure) {
        try waiting { [backend] ready in backend.awaitLatest(ready) }
    }

    private func waiting(
        _ begin: (_ ready: @escaping @Sendable (ServiceFailure?) -> Void) -> Void
    ) throws(ServiceFailure) {
        let outcome = Mutex<ServiceFailure?>(nil)
        let done = DispatchSemaphore(value: 0)
        begin { failure in
            outcome.withLock { $0 = failure }
            done.signal()
        }
        done.wait()
        if let failure = outcome.withLock({ $0 }) { throw failure }
    }

    /// Calls `ready` when everything that was answered before, anywhere, has been matched, on the
    /// matcher's thread or another one.
    func whenPresent(_ ready: @escaping @Sendable (Result<Moment, ServiceFailure>) -> Void) {
        backend.awaitLatest { [matcher] failure in
            if let failure { return ready(.failure(failure)) }
            matcher.thread.async {
                do throws(ServiceFailure) {
                    ready(.success(try matcher.present()))
                } catch {
                    ready(.failure(error))
                }
            }
        }
    }

    // MARK: Heartbeats

    /// How often the hub looks for watches that have been silent for long, while there are any.
    private var beatInterval: Duration {
        .milliseconds(min(max(limits.watchHeartbeatMilliseconds / 20, 5), 1_000))
    }

    private func beat() {
        matcher.thread.async(after: beatInterval) { [weak self] in
            guard let self, !isStopped.load(ordering: .relaxed) else { return }
            let now = clock.nanoseconds()
            let all = sessions.withLock { sessions in
                sessions.areBeating = !sessions.all.isEmpty
                return Array(sessions.all.values)
            }
            for session in all { session.beat(now) }
            if !all.isEmpty { beat() }
        }
    }
}

extension BucketPlacement {
    /// - Throws: `TEMPORARY_UNAVAILABLE_ERROR` while the node loads one of the buckets, or if it does
    ///   not fit.
    func check(areHeld buckets: [BucketName]) throws(ServiceFailure) {
        // Asks for each: those that are not held are loaded from now on.
        let missing = buckets.filter { !isHeld($0) }
        guard let bucket = missing.first else { return }
        if let obstacle = missing.lazy.compactMap(obstacle).first {
            throw ServiceFailure(.temporarilyUnavailable, obstacle)
        }
        throw ServiceFailure(
            .temporarilyUnavailable,
            "this node is loading the bucket \(quoted(bucket.text)); try again",
            retryAfterMilliseconds: 100)
    }
}
