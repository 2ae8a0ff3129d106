import BackendContract
import Dispatch
import EmbeddedBackend
import Logging
import Objects
import Runtime
import Synchronization

/// Follows the head in PostgreSQL: on each notification, and each second. What other nodes have
/// changed becomes one new state of this node.
///
/// `@unchecked Sendable`: only the thread accesses what is not constant or atomic.
final class Follower: @unchecked Sendable {
    private let connector: ClusterConnector
    private let applied: AppliedState
    private let backend: SQLiteBackend
    private let share: NodeShare?
    private let steps: FollowingSteps
    private let upstream: ClusterUpstream
    private let logger: Logger
    private let diverged: @Sendable (Divergence) -> Void
    private let thread = WorkThread("follower", .writer)
    private let interrupt = Interrupt()
    private var tables: ClusterTables?
    private var isFailing = false
    private let skew = Atomic<Int64>(0)
    private let snapshot = Mutex((milliseconds: Int64(0), transactions: Int64(0)))
    private var isSkewed = false
    private var nextClock = MonotonicTime(nanoseconds: .min)
    /// Whether a change was announced that has not been taken over.
    private var isAnnounced = false

    /// The longest time without a look at the head: a second, and so short that a node that has
    /// nothing to take over does not refuse local reads.
    private var interval: Duration {
        .milliseconds(min(1_000, connector.limits.followMilliseconds / 4))
    }
    /// The time between two looks at the server's clock and its oldest snapshot.
    private static let clockInterval = Duration.seconds(10)
    /// How long the follower waits for the node's own writer to reach an announced change.
    private static let longestWait = DispatchTimeInterval.milliseconds(5)
    /// A node whose clock is off by more than this says so in the log; milliseconds.
    private static let noticedSkew: Int64 = 5_000

    init(
        _ connector: ClusterConnector, _ applied: AppliedState,
        of backend: SQLiteBackend, _ share: NodeShare?, _ steps: FollowingSteps,
        beside upstream: ClusterUpstream, logger: Logger,
        diverged: @escaping @Sendable (Divergence) -> Void
    ) {
        self.connector = connector
        self.applied = applied
        self.backend = backend
        self.share = share
        self.steps = steps
        self.upstream = upstream
        self.logger = logger
        self.diverged = diverged
    }

    /// How far this node's clock is ahead of PostgreSQL's, in milliseconds.
    var skewMilliseconds: Int64 { skew.load(ordering: .relaxed) }

    /// For how long the oldest snapshot of the database was open at the last look, in milliseconds, and
    /// for how many transactions.
    var oldestSnapshot: (Int64, Int64) { snapshot.withLock { ($0.milliseconds, $0.transactions) } }

    func start() { thread.async { self.step() } }

    /// Returns when nothing is followed any more, and ends the connection.
    func stop() {
        interrupt.raise()
        thread.sync { tables = nil }
    }

    private func step() {
        guard !interrupt.isRaised else { return }
        do {
            try follow()
            note(nil)
        } catch let failure as StoreFailure {
            note(failure.description)
            pause(Outage.pause)
        } catch {
            tables = nil
            guard !interrupt.isRaised else { return }
            note("\(error)")
            pause(Outage.pause)
        }
        thread.async { self.step() }
    }

    /// Takes over what is new, and waits for the next change.
    private func follow() throws {
        let tables = try connected()
        var divergence: Divergence?
        try steps.alone { divergence = try takeOver(tables) }
        if let divergence {
            diverged(divergence)
            // Another copy is made meanwhile.
            return pause(Outage.pause)
        }
        try noteServer(tables)
        let end = connector.clock.deadline(after: interval)
        while !end.isOver {
            let announced = try tables.announcements(until: end, unless: interrupt)
            guard !announced.isEmpty else { return }
            var last: ChangeNumber = 0
            for announcement in announced {
                switch announcement {
                case .change(let change): last = change
                case .message(let text): prepare(for: text)
                }
            }
            guard isReached(last) else {
                isAnnounced = true
                return
            }
        }
    }

    /// Prepares for a deletion that another node is about to do.
    private func prepare(for text: String) {
        guard let message = DeletionMessage(text, limits: connector.limits),
            message.sender != upstream.identity
        else { return }
        backend.foresee(deletionOf: message.clause, in: message.bucket)
    }

    /// Whether the node has reached a change. A writer at work has made it itself, or takes it over
    /// with its transaction, which is cheaper than a transaction of the follower's.
    private func isReached(_ change: ChangeNumber) -> Bool {
        if applied.reached.change >= change { return true }
        guard upstream.isAtWork.load(ordering: .relaxed) else { return false }
        let reached = DispatchSemaphore(value: 0)
        let deadline = connector.clock.now.advanced(by: connector.failoverTime)
        applied.wait([.init(change: change, deadline: deadline) { _ in reached.signal() }])
        return reached.wait(timeout: .now() + Self.longestWait) == .success
    }

    /// Takes over what is new.
    ///
    /// - Returns: why PostgreSQL does not continue the node's state; nil if it does.
    private func takeOver(_ tables: ClusterTables) throws -> Divergence? {
        let begin = connector.clock.now
        let state = applied.reached
        if !isAnnounced {
            let (head, past) = try tables.head(after: state.change, state.stateMark?.batch)
            if let divergence = Divergence(of: state, from: head, past) { return divergence }
            guard head.change != state.change else {
                applied.see(head.change, at: begin)
                return nil
            }
        }
        isAnnounced = false
        // This node's own writer may have moved on meanwhile.
        let filter = share?.filter(after: state.change)
        var tail = try tables.tail(after: state.change, state.stateMark?.batch, filter)
        if let divergence = tail.divergence(from: state) { return divergence }
        if tail.isTooLong {
            applied.see(tail.head.change, at: begin)
            // Others may write half as much while it copies; a second copy would fare no better.
            let isFar = try NodeCache.isFar(
                from: tail.head.change, at: state.change, tables,
                share.map { Array($0.held.names) }, copied: { backend.statistics().objects })
            if isFar { return .distance }
            tail = try tables.longTail(
                after: state.change, state.stateMark?.batch, filter, unless: interrupt)
            if let divergence = tail.divergence(from: state) { return divergence }
        }
        try backend.follow(tail.shared)
        applied.see(tail.head.change, at: begin)
        return nil
    }

    private func connected() throws(PostgresFailure) -> ClusterTables {
        if let tables { return tables }
        let fresh = try connector.connect()
        try fresh.listen()
        tables = fresh
        return fresh
    }

    /// Compares the clocks, and looks at the oldest snapshot.
    private func noteServer(_ tables: ClusterTables) throws(PostgresFailure) {
        let clock = connector.clock
        guard clock.now >= nextClock else { return }
        nextClock = clock.now.advanced(by: Self.clockInterval)
        let before = clock.milliseconds()
        let theirs = try tables.milliseconds()
        let difference = (before + clock.milliseconds()) / 2 - theirs
        skew.store(difference, ordering: .relaxed)
        let isSkewed = abs(difference) > Self.noticedSkew
        if isSkewed, !self.isSkewed {
            logger.warning(
                "this machine's clock differs from PostgreSQL's; times and expiries will too",
                metadata: ["milliseconds": .stringConvertible(difference)])
        }
        self.isSkewed = isSkewed
        let oldest = try tables.oldestSnapshot()
        snapshot.withLock { $0 = oldest }
    }

    /// Logs when following begins to fail or succeeds again.
    private func note(_ failure: String?) {
        guard isFailing != (failure != nil) else { return }
        isFailing = failure != nil
        if let failure {
            logger.error("the node cannot follow PostgreSQL", metadata: ["reason": "\(failure)"])
        } else {
            logger.notice("the node follows PostgreSQL again")
        }
    }
}
