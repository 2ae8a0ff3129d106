import BackendContract
import EmbeddedBackend
import Logging
import Objects
import Runtime

/// One life of a node: a copy of the tables, what follows them, and what writes to them. It ends
/// when PostgreSQL no longer continues its history.
final class Node: Sendable {
    let backend: SQLiteBackend
    let applied: AppliedState
    /// The part of the buckets that the node holds; nil if it holds all of them.
    let share: NodeShare?
    private let connector: ClusterConnector
    private let loader: BucketLoader?
    private let upstream: ClusterUpstream
    private let looks: HeadLooks
    private let follower: Follower

    /// - Parameters:
    ///   - discarded: called when the copy that is there is thrown away, because it cannot be used.
    ///   - diverged: called when PostgreSQL no longer continues the node's state.
    init(
        _ configuration: PostgresBackend.Configuration, _ tables: ClusterTables,
        _ connector: ClusterConnector, _ membership: Membership?, logger: Logger,
        progress: @escaping @Sendable (Int) -> Void,
        discarded: @escaping @Sendable () -> Void,
        diverged: @escaping @Sendable (Divergence, AppliedState) -> Void
    ) throws {
        try Self.check(tables, logger)
        if configuration.keepsGeometry { try tables.keepPlaces() }
        let part = membership.map { membership in
            // With a bound, buckets are copied one by one, as long as they fit.
            NodeCache.Share(id: membership.id) {
                connector.limits.heldBytes == 0 && membership.isOwn($0)
            }
        }
        let cache = NodeCache(
            configuration.cache, part, logger: logger, progress: progress, discarded: discarded)
        let (state, applied, looks, share, upstream, backend) = try cache.open(tables) {
            state, buckets in
            let applied = AppliedState(state, clock: connector.clock)
            let looks = HeadLooks(connector, applied)
            let share = membership.map {
                NodeShare(HeldBuckets(buckets, clock: connector.clock), $0)
            }
            let upstream = ClusterUpstream(connector, applied, looks, share) {
                diverged($0, applied)
            }
            let backend = try SQLiteBackend(
                path: configuration.cache, durability: .none, upstream: upstream,
                limits: connector.limits, logger: logger, tuning: configuration.tuning,
                clock: connector.clock)
            return (state, applied, looks, share, upstream, backend)
        }
        self.connector = connector
        (self.applied, self.looks, self.share) = (applied, looks, share)
        (self.upstream, self.backend) = (upstream, backend)
        let report: @Sendable (Divergence) -> Void = { diverged($0, applied) }
        let steps = FollowingSteps()
        follower = Follower(
            connector, applied, of: backend, share, steps, beside: upstream, logger: logger,
            diverged: report)
        loader = share.map {
            BucketLoader(
                connector, $0.membership, $0.held, applied, of: backend, steps,
                logger: logger, diverged: report)
        }
        let begin = connector.clock.now
        let tail = try tables.wholeTail(
            after: state.change, state.stateMark?.batch, share?.filter(after: state.change)
        ) { head in
            logger.notice(
                "the node catches up",
                metadata: ["changes": .stringConvertible(head.change - state.change)])
        }
        if tail.divergence(from: state) == nil {
            try backend.follow(tail.shared)
            applied.see(tail.head.change, at: begin)
        }
    }

    /// Makes sure that PostgreSQL is as nodes need it, and logs what weakens them.
    private static func check(_ tables: ClusterTables, _ logger: Logger) throws {
        for weakness in try tables.checkRequirements() {
            logger.warning(
                "a setting of PostgreSQL weakens what nodes promise",
                metadata: ["reason": "\(weakness)"])
        }
        if try !tables.seesAllSessions() {
            logger.notice(
                """
                the role of the nodes does not see the sessions of others, so the age of the oldest \
                snapshot is that of its own; GRANT pg_read_all_stats to it
                """)
        }
    }

    /// Begins to follow.
    func start() {
        follower.start()
        if let loader {
            share?.connect(loader)
            loader.look()
        }
    }

    /// Runs a look at a bucket, if the node holds the bucket all the while.
    func looking<Result>(
        at bucket: BucketName, _ body: () throws(ServiceFailure) -> Result
    ) throws(ServiceFailure) -> Result {
        guard let held = share?.held else { return try body() }
        guard let ticket = held.ticket(of: bucket) else { throw .notHeld(bucket) }
        let result = try body()
        guard held.ticket(of: bucket) == ticket else { throw .notHeld(bucket) }
        return result
    }

    /// Ends what follows and what waits. Writes that were submitted are still committed if
    /// PostgreSQL answers at once.
    func close() throws(StoreFailure) {
        upstream.stop()
        loader?.stop()
        follower.stop()
        looks.stop()
        applied.end(ServiceFailure(.temporarilyUnavailable, "this node stops, or is being rebuilt"))
        defer { upstream.disconnect() }
        try backend.close()
    }

    /// Whether some reads may begin now.
    func mayRead(
        _ count: Int, _ reads: PostgresBackend.Reads, atLeast change: ChangeNumber?,
        _ ready: @escaping AppliedState.Ready
    ) -> Bool {
        let limits = connector.limits
        let deadline = connector.clock.now.advanced(by: .milliseconds(limits.queryMilliseconds))
        switch (reads, change) {
        case (.latest, let change):
            looks.ask(count) { [applied] failure in
                guard failure == nil, let change else { return ready(failure) }
                applied.wait([.init(change: change, deadline: deadline, ready: ready)])
            }
        case (.local, let change?):
            if change <= applied.reached.change { return true }
            applied.wait([.init(change: change, deadline: deadline, ready: ready)])
        case (.local, nil):
            guard applied.lag > .milliseconds(limits.followMilliseconds) else { return true }
            ready(
                ServiceFailure(
                    .temporarilyUnavailable,
                    "this node has not heard from PostgreSQL for \(limits.followMilliseconds) ms "
                        + "(followMilliseconds)"))
        }
        return false
    }

    /// Calls `ready` when the node has everything that any node has answered.
    func awaitLatest(_ ready: @escaping AppliedState.Ready) { looks.ask(1, ready) }

    /// A change that includes every write that this node has answered.
    var answeredChange: ChangeNumber {
        max(applied.reached.change, upstream.committedChange.load(ordering: .acquiring))
    }

    func statistics() -> BackendStatistics {
        var statistics = backend.statistics()
        var cluster = ClusterStatistics()
        cluster.applied = applied.reached.change
        cluster.head = applied.seen
        cluster.lagMilliseconds = Int64(applied.lag / .milliseconds(1))
        cluster.roundTripMicroseconds = looks.roundTripMicroseconds
        cluster.batches = upstream.batches.load(ordering: .relaxed)
        cluster.skewMilliseconds = follower.skewMilliseconds
        (cluster.snapshotMilliseconds, cluster.snapshotTransactions) = follower.oldestSnapshot
        if let share {
            cluster.share = share.held.statistics
            cluster.share?.nodes = share.membership.view.nodes.count
        }
        statistics.cluster = cluster
        return statistics
    }

    /// Compares the copy with PostgreSQL, and the index with the copy.
    func check(until stop: StopSignal?) throws(ServiceFailure) -> CheckReport {
        do {
            let tables = try connector.connect(answerTime: .seconds(600))
            var held: Set<BucketName>?
            var (report, copy) = try backend.check(until: stop) { [applied, share] in
                let state = applied.reached
                held = share?.held.names
                let tail = try tables.snapshot(
                    after: state.change, state.stateMark?.batch,
                    share?.filter(after: state.change))
                // The follower finds out too.
                if let divergence = tail.divergence(from: state) {
                    throw StoreFailure.diverged("\(divergence)")
                }
                return tail.shared
            }
            let isCompared = { (bucket: BucketName) in held?.contains(bucket) ?? true }
            report.problems += Self.differences(
                theirs: try tables.digests().filter { isCompared($0.key) },
                ours: try copy.digests().filter { isCompared($0.key) })
            return report
        } catch let failure as ServiceFailure {
            throw failure
        } catch let failure as PostgresFailure {
            throw ServiceFailure(StoreFailure(failure))
        } catch {
            throw ServiceFailure(.undefined, "\(error)")
        }
    }

    private static func differences(
        theirs: [BucketName: BucketDigest], ours: [BucketName: BucketDigest]
    ) -> [String] {
        Set(theirs.keys).union(ours.keys).sorted().compactMap { bucket in
            let (there, here) = (theirs[bucket], ours[bucket])
            if there == here { return nil }
            return
                "bucket \(bucket.text): PostgreSQL has \(there?.count ?? 0) objects, this node has "
                + "\(here?.count ?? 0)"
                + (there?.count == here?.count ? ", and their changes differ" : "")
        }
    }
}
