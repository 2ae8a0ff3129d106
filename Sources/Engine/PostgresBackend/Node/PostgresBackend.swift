import BackendContract
import EmbeddedBackend
import InMemoryEngine
import JSONText
import Logging
import Objects
import Runtime
import Synchronization

/// A node of a cluster: the embedded back end over a copy of the tables in PostgreSQL, which are the
/// truth and the order of all writes.
///
///     let backend = try PostgresBackend(configuration, limits: limits, logger: logger)
///
/// A transaction of a node begins with the lock of the tables' head and what others have written,
/// and ends with a commit there. So every node answers what the embedded back end would.
public final class PostgresBackend: Backend {
    /// What reads may miss.
    public enum Reads: String, Sendable, CaseIterable {
        /// Nothing that was answered before, by any node.
        case latest
        /// What other nodes have written within the last `followMilliseconds`.
        case local
    }

    /// Where a node's data are, and how it reads.
    public struct Configuration: Sendable {
        /// The tables.
        public var address: PostgresAddress
        /// The path of the file that the node keeps its copy in.
        public var cache: String
        /// What reads may miss.
        public var reads: Reads
        /// The number of nodes that hold each bucket; 0: each node holds every one.
        public var copies = 0
        /// Whether PostgreSQL keeps the points as geographies too.
        public var keepsGeometry = false
        /// Thresholds and batch sizes of background work.
        public var tuning = Engine.Tuning()

        /// Stores its arguments.
        public init(address: PostgresAddress, cache: String, reads: Reads = .latest) {
            self.address = address
            self.cache = cache
            self.reads = reads
        }
    }

    /// `postgresql`.
    public let storeName = "postgresql"
    private let configuration: Configuration
    private let connector: ClusterConnector
    private let logger: Logger
    /// Nil while the node is being rebuilt.
    private let node = Mutex<Node?>(nil)
    /// Who is told of every state, of whichever node.
    private let observer = Mutex<(any StateObserver)?>(nil)
    /// Nil if each node holds every bucket.
    private let membership: Membership?
    private let rebuilding = WorkThread("rebuild", .background)
    /// How often the copy has been thrown away, at the start or later.
    private let rebuilds = Atomic(0)
    private let isClosed = Atomic(false)
    private let progress: @Sendable (Int) -> Void

    /// Connects, makes the cache a copy of the tables, and loads it.
    ///
    /// - Parameters:
    ///   - clock: the source of time. It is the system's, except in tests.
    ///   - progress: called from time to time with the number of objects that have been copied.
    /// - Throws: a `StoreFailure` with the reason, after `failoverMilliseconds` if PostgreSQL does
    ///   not answer, and at once if waiting does not help.
    public init(
        _ configuration: Configuration, limits: Limits, logger: Logger,
        clock: ServiceClock = ServiceClock(),
        progress: @escaping @Sendable (Int) -> Void = { _ in }
    ) throws(StoreFailure) {
        self.configuration = configuration
        let connector = ClusterConnector(
            address: configuration.address, limits: limits, clock: clock)
        self.connector = connector
        self.logger = logger
        self.progress = progress
        let deadline = clock.deadline(after: connector.failoverTime)
        try Self.attempting(until: deadline) { try connector.tryFirst() }
        membership =
            configuration.copies == 0
            ? nil
            : try Self.attempting(until: deadline) {
                let tables = try connector.connect()
                return Membership(
                    id: NodeCache.identity(at: configuration.cache) ?? .random(),
                    copies: configuration.copies,
                    others: try tables.nodes(timeout: limits.nodeTimeoutMilliseconds),
                    connector, logger)
            }
        let first = try build(until: deadline) { [weak self] in self?.noteRebuild() }
        node.withLock { $0 = first }
        first.start()
    }

    /// Tells clients and other nodes the addresses of this one, unless every node holds every
    /// bucket. From then on this node is to hold its part of the buckets.
    public func announce(client: String, peer: String) {
        membership?.start(client: client, peer: peer)
    }

    /// Which nodes hold which buckets; nil if each holds every one.
    public var placement: (any BucketPlacement)? {
        membership.map { membership in
            NodePlacement(
                membership: membership, connector: connector
            ) { [weak self] in
                self?.node.withLock { $0 }?.share
            }
        }
    }

    /// Waits for the submitted writes, then closes the cache.
    public func close() throws(StoreFailure) {
        isClosed.store(true, ordering: .relaxed)
        membership?.stop()
        rebuilding.drain()
        let last = node.withLock { node in
            defer { node = nil }
            return node
        }
        try last?.close()
    }

    /// Returns when every submitted write has been answered and no background work is in progress.
    public func settle() { node.withLock { $0 }?.backend.settle() }

    // MARK: Rebuilding

    private func noteRebuild() { rebuilds.add(1, ordering: .relaxed) }

    /// Builds a node, trying again until a time while PostgreSQL does not answer.
    ///
    /// - Parameter discarded: called when a copy that is there is thrown away.
    private func build(
        until deadline: Deadline, discarded: @escaping @Sendable () -> Void = {}
    ) throws(StoreFailure) -> Node {
        let isOver = { [self] in isClosed.load(ordering: .relaxed) }
        return try Self.attempting(until: deadline, unless: isOver) {
            try Node(
                configuration, try connector.connect(), connector, membership, logger: logger,
                progress: progress, discarded: discarded
            ) { [weak self] divergence, applied in self?.rebuild(divergence, of: applied) }
        }
    }

    /// Runs `body`, again and again until a time while PostgreSQL does not answer.
    private static func attempting<Result>(
        until deadline: Deadline, unless isOver: () -> Bool = { false },
        _ body: () throws -> Result
    ) throws(StoreFailure) -> Result {
        while true {
            do {
                return try body()
            } catch let failure as PostgresFailure {
                guard case .unavailable = failure, !deadline.isOver, !isOver() else {
                    throw StoreFailure(failure)
                }
                pause(Outage.pause)
            } catch let failure as StoreFailure {
                throw failure
            } catch {
                throw StoreFailure.failed("\(error)")
            }
        }
    }

    /// Throws away a state that PostgreSQL does not have, and copies the one that it has.
    ///
    /// - Parameter applied: identifies the node's life that ends. A later one goes on.
    private func rebuild(_ divergence: Divergence, of applied: AppliedState) {
        rebuilding.async { [self] in
            let former = node.withLock { node -> Node? in
                guard node?.applied === applied else { return nil }
                defer { node = nil }
                return node
            }
            guard let former, !isClosed.load(ordering: .relaxed) else { return }
            logger.error("the node is rebuilt", metadata: ["reason": "\(divergence)"])
            noteRebuild()
            try? former.close()
            while !isClosed.load(ordering: .relaxed) {
                do throws(StoreFailure) {
                    if case .loss = divergence { try endEpoch(of: applied.reached) }
                    let next = try build(until: connector.clock.deadline(after: .seconds(1)))
                    observer.withLock { observer in
                        node.withLock { $0 = next }
                        if let observer { next.backend.observe(observer) }
                    }
                    next.start()
                    return logger.notice(
                        "the node is rebuilt and answers",
                        metadata: ["change": .stringConvertible(next.applied.reached.change)])
                } catch {
                    logger.warning("the rebuild fails for now", metadata: ["reason": "\(error)"])
                    pause(.seconds(1))
                }
            }
        }
    }

    /// Lets no later state be taken for a continuation of what was lost.
    private func endEpoch(of state: SharedState) throws(StoreFailure) {
        guard let epoch = state.stateMark?.epoch else { return }
        do throws(PostgresFailure) {
            try connector.connect().endEpoch(epoch)
        } catch {
            throw StoreFailure(error)
        }
    }

    private func present() throws(ServiceFailure) -> Node {
        guard let node = node.withLock({ $0 }) else {
            throw ServiceFailure(
                .temporarilyUnavailable,
                "the node is being rebuilt from PostgreSQL; try again, or ask another node")
        }
        return node
    }

    // MARK: Reads

    /// Whether reads are local and the node is not behind.
    public var readsAtOnce: Bool { configuration.reads == .local && isReady }

    /// The number that a read on another node may ask for, however this node reads: the other one may
    /// read locally. Nil while the node is being rebuilt.
    public var answeredChange: ChangeNumber? { node.withLock { $0 }?.answeredChange }

    /// Whether reads may begin now; see `Reads`.
    public func mayRead(
        _ count: Int, atLeast change: ChangeNumber?,
        _ ready: @escaping @Sendable (ServiceFailure?) -> Void
    ) -> Bool {
        do throws(ServiceFailure) {
            return try present().mayRead(
                count, configuration.reads, atLeast: change, ready)
        } catch {
            ready(error)
            return false
        }
    }

    /// Asks PostgreSQL for its head, also if reads are local, and waits until the node is there.
    public func awaitLatest(_ ready: @escaping @Sendable (ServiceFailure?) -> Void) {
        do throws(ServiceFailure) {
            try present().awaitLatest(ready)
        } catch {
            ready(error)
        }
    }

    /// What the node has, and what the last look at the head has found.
    public var readStates: ReadStates? { node.withLock { $0 }?.applied.readStates }

    /// Checks and plans a read on the node's present state.
    public func prepare(_ request: consuming ReadRequest) throws(ServiceFailure) -> any PreparedRead
    {
        let node = try present()
        guard let share = node.share else { return try node.backend.prepare(request) }
        let shared = request.limited(to: { share.held.holds($0) })
        guard let bucket = shared.bucket else { return try node.backend.prepare(shared) }
        return try node.looking(at: bucket) { () throws(ServiceFailure) in
            try node.backend.prepare(shared)
        }
    }

    /// Appends a whole object as clients read it.
    ///
    /// - Throws: `OBJECT_NOT_FOUND`.
    public func get(
        _ id: ObjectID, in bucket: BucketName, into writer: inout JSONWriter
    ) throws(ServiceFailure) {
        let node = try present()
        try node.looking(at: bucket) { () throws(ServiceFailure) in
            try node.backend.get(id, in: bucket, into: &writer)
        }
    }

    /// Holds the present state of a bucket so that it can be read piece by piece.
    public func export(_ bucket: BucketName) throws(ServiceFailure) -> any BucketExport {
        let node = try present()
        return try node.looking(at: bucket) { () throws(ServiceFailure) in
            try node.backend.export(bucket)
        }
    }

    // MARK: Writes

    /// Queues a write for the node's writer. The completion is called when the write has been
    /// committed to PostgreSQL and is visible on this node, or has failed.
    public func submit(
        _ write: Write, key: RequestKey?, by owner: String,
        completion: @escaping @Sendable (Result<WriteAnswer, ServiceFailure>) -> Void
    ) {
        do throws(ServiceFailure) {
            try present().backend.submit(write, key: key, by: owner, completion: completion)
        } catch {
            completion(.failure(error))
        }
    }

    // MARK: Operation

    /// Begins to tell an observer of every state of this node. After a rebuild, and if the node is
    /// being rebuilt, it begins again with the node's next state.
    public func observe(_ observer: any StateObserver) {
        self.observer.withLock {
            $0 = observer
            node.withLock { $0 }?.backend.observe(observer)
        }
    }

    /// Ends what `observe` began.
    public func endObservation() {
        observer.withLock {
            $0 = nil
            node.withLock { $0 }?.backend.endObservation()
        }
    }

    /// Compares this node with PostgreSQL, and its index with its copy, at one state.
    public func check(until stop: StopSignal?) throws(ServiceFailure) -> CheckReport {
        try present().check(until: stop)
    }

    /// - Throws: always `OPERATION_NOT_ALLOWED`.
    public func backup() throws(ServiceFailure) -> any StoreBackup {
        throw ServiceFailure(
            .notAllowed,
            "the store is PostgreSQL: back it up with its own tools, such as pg_basebackup or pg_dump"
        )
    }

    /// Compacts this node's copy. PostgreSQL has its own vacuum.
    public func compact(
        for time: Duration, until stop: StopSignal?
    ) throws(ServiceFailure) -> CompactionState {
        try present().backend.compact(for: time, until: stop)
    }

    /// The statistics of this node.
    public func statistics() -> BackendStatistics {
        guard let node = node.withLock({ $0 }) else {
            var statistics = BackendStatistics()
            statistics.cluster = ClusterStatistics()
            statistics.cluster?.rebuilds = rebuilds.load(ordering: .relaxed)
            return statistics
        }
        var statistics = node.statistics()
        statistics.cluster?.rebuilds = rebuilds.load(ordering: .relaxed)
        return statistics
    }

    /// Whether the node can answer: not while it is rebuilt, nor with local reads while it lags.
    public var isReady: Bool {
        guard let node = node.withLock({ $0 }) else { return false }
        return configuration.reads == .latest
            || node.applied.lag <= .milliseconds(connector.limits.followMilliseconds)
    }
}
