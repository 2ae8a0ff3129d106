import BackendContract
import EmbeddedBackend
import Objects
import QueryLanguage
import Runtime
import Synchronization

/// PostgreSQL as the upstream of a node's store.
///
/// `@unchecked Sendable`: only the writer's thread accesses `tables` and `outage`.
final class ClusterUpstream: Upstream, @unchecked Sendable {
    private let connector: ClusterConnector
    private let applied: AppliedState
    private let looks: HeadLooks
    private let share: NodeShare?
    /// The `StateMark.brief` of the last state that is, or is about to become, visible.
    private let newest: Mutex<[UInt8]>
    private let diverged: @Sendable (Divergence) -> Void
    private var tables: ClusterTables?
    private var outage: Outage
    /// When the first of the transactions was interrupted since the last one that was committed.
    private var interrupted: MonotonicTime?
    /// What the node has to reach before another transaction is worth its lock; nil if nothing.
    private var awaited: Awaited?
    /// The most bytes of changes that a transaction fetches while it has the lock.
    private var lockedBytes = ClusterTables.bytesAtOnce
    /// Tells the messages of this node from those of others.
    let identity = UUIDBytes.random().bytes.map { String($0, radix: 16) }.joined()
    /// The number of batches so far.
    let batches = Atomic(0)
    /// The last change that this node has committed. Its copy may lack it, if that cannot be written.
    let committedChange = Atomic<ChangeNumber>(0)
    /// Whether a transaction is under way, from before it waits for the lock of the head until its
    /// state is published.
    let isAtWork = Atomic(false)
    private let isStopped = Atomic(false)

    /// - Parameter diverged: called when PostgreSQL no longer has what this node has.
    init(
        _ connector: ClusterConnector, _ applied: AppliedState, _ looks: HeadLooks,
        _ share: NodeShare?,
        diverged: @escaping @Sendable (Divergence) -> Void
    ) {
        self.connector = connector
        self.applied = applied
        self.looks = looks
        newest = Mutex(applied.reached.stateMark?.brief ?? [])
        self.share = share
        self.diverged = diverged
        outage = Outage(limit: connector.failoverTime, clock: connector.clock)
    }

    /// Makes every wait for PostgreSQL end soon: nothing is tried a second time.
    func stop() { isStopped.store(true, ordering: .relaxed) }

    /// Ends the connection, when the writer has ended.
    func disconnect() { tables = nil }

    func begin(
        after change: ChangeNumber, keys: [String]
    ) throws(StoreFailure) -> any UpstreamTransaction {
        let state = applied.reached
        if let awaited, awaited.change > state.change { throw .behind }
        let filter = share?.filter(after: change)
        isAtWork.store(true, ordering: .relaxed)
        do throws(StoreFailure) {
            let transaction = try retrying { tables throws(PostgresFailure) in
                try ClusterTransaction(
                    tables, after: change, state.stateMark?.batch, keys: keys, filter,
                    atMost: lockedBytes)
            }
            try check(transaction.tail, against: state)
            guard !transaction.tail.isTooLong else {
                fallBehind(transaction.tail.head.change)
                throw StoreFailure.behind
            }
            awaited = nil
            return NodeTransaction(transaction, of: self)
        } catch {
            isAtWork.store(false, ordering: .relaxed)
            throw error
        }
    }

    /// The beginnings of the epoch, which stays the same while the node lives, and of a batch.
    var history: [UInt8] { newest.withLock { $0 } }

    /// Asks PostgreSQL whether it knows the batch of a history. A batch that is older than those it
    /// remembers is taken for known.
    func contains(_ change: ChangeNumber, of history: [UInt8]) -> Bool {
        let (epoch, batch) = (history.prefix(StateMark.half), history.dropFirst(StateMark.half))
        let present = self.history
        guard epoch == present.prefix(StateMark.half) else { return false }
        if batch.allSatisfy({ $0 == 0 }) || batch == present.dropFirst(StateMark.half) {
            return true
        }
        return switch looks.past(ofBatchThatBegins: batch, at: change) {
        case .known, .forgotten: true
        case .lost, nil: false
        }
    }

    // MARK: Catching up

    /// A head that the node lacks so much of that the follower has to fetch it first.
    private struct Awaited {
        let change: ChangeNumber
        /// Until when writes wait for it.
        let deadline: MonotonicTime
    }

    /// The most that is fetched under the lock.
    private static let mostLockedBytes = 64 * ClusterTables.bytesAtOnce

    /// If the node lacks too much again before it has written anything, others write much at a time.
    /// It then fetches more under the lock, or it would never write.
    private func fallBehind(_ head: ChangeNumber) {
        let now = now
        let former = awaited.flatMap { now < $0.deadline ? $0.deadline : nil }
        lockedBytes =
            former == nil
            ? ClusterTables.bytesAtOnce : min(2 * lockedBytes, Self.mostLockedBytes)
        awaited = Awaited(
            change: head, deadline: former ?? now.advanced(by: connector.failoverTime))
    }

    func whenCaughtUp(_ ready: @escaping @Sendable (StoreFailure?) -> Void) {
        guard let awaited else { return ready(nil) }
        applied.wait([
            .init(change: awaited.change, deadline: awaited.deadline) { failure in
                ready(failure.map { _ in Self.late })
            }
        ])
    }

    private static let late = StoreFailure.unreachable(
        "this node is fetching changes that it lacks from PostgreSQL; try again, or ask another "
            + "node")

    func refusal(of bucket: BucketName) -> ServiceFailure? {
        share?.held.holds(bucket) == false ? .notHeld(bucket) : nil
    }

    func stay(of bucket: BucketName) -> Int? { share?.held.ticket(of: bucket) }

    func publishing(_ state: SharedState) {
        if let mark = state.stateMark { newest.withLock { $0 = mark.brief } }
    }

    func published(_ changes: SharedChanges) { applied.reach(changes.state) }

    func announce(deletionOf clause: Clause, in bucket: BucketName) {
        guard let text = DeletionMessage(by: identity, of: clause, in: bucket).text else { return }
        do throws(PostgresFailure) {
            try connector.connected(&tables).announce(text)
        } catch {
            tables = nil
        }
    }

    func removeListedRows() throws(StoreFailure) -> Bool {
        try retrying { tables throws(PostgresFailure) in try tables.removeListedRows() }
    }

    func forget(
        tombstonesBefore: Int64, requestsBefore: Int64
    ) throws(StoreFailure) -> Bool {
        try retrying { tables throws(PostgresFailure) in
            try tables.forget(
                tombstonesBefore: tombstonesBefore, requestsBefore: requestsBefore,
                atMost: Self.forgottenAtOnce)
        }
    }

    private static let forgottenAtOnce: Int64 = 1_000

    /// Whether a batch was done whose answer was lost.
    func wasDone(_ batch: UUIDBytes) throws(StoreFailure) -> Bool {
        try retrying { tables throws(PostgresFailure) in try tables.confirm(batch) }
    }

    private func check(
        _ tail: ClusterTables.Tail, against state: SharedState
    ) throws(StoreFailure) {
        guard let divergence = tail.divergence(from: state) else { return }
        diverged(divergence)
        throw .diverged("\(divergence); the node is being rebuilt")
    }

    /// Runs `body` on a connection, again and again until PostgreSQL answers or the time is over.
    private func retrying<Result>(
        _ body: (ClusterTables) throws(PostgresFailure) -> Result
    ) throws(StoreFailure) -> Result {
        var last = "it does not answer"
        while outage.isWorthTrying() {
            let begin = now
            let isStopped = isStopped.load(ordering: .relaxed)
            let deadline = isStopped ? begin : outage.deadline(begin)
            do throws(PostgresFailure) {
                let result = try body(try connector.connected(&tables))
                outage.ended()
                return result
            } catch .unavailable(let reason) {
                lost(since: begin)
                last = reason
                guard now < deadline, !isStopped else { break }
                pause(Outage.pause)
            } catch {
                tables = nil
                throw StoreFailure(error)
            }
        }
        throw .unreachable("PostgreSQL cannot be reached: \(last)")
    }

    var now: MonotonicTime { connector.clock.now }

    /// Notes that PostgreSQL has not answered an attempt that began at a time.
    func lost(since begin: MonotonicTime) {
        tables = nil
        outage.failed(since: begin)
    }

    /// The failure of a transaction of which nothing was done. It is repeated, but not for longer
    /// than an outage is waited for: a network may pass all but a transaction's end.
    func interruption() -> StoreFailure {
        let first = interrupted ?? now
        interrupted = first
        guard now < first.advanced(by: connector.failoverTime) else {
            interrupted = nil
            return .unreachable("PostgreSQL cannot be reached: no transaction comes to its end")
        }
        return .interrupted
    }

    /// Notes that a transaction has come to its end.
    func ended() { interrupted = nil }

    /// Notes that a transaction was committed.
    ///
    /// - Parameter change: its last change.
    func committed(_ change: ChangeNumber) {
        ended()
        committedChange.store(change, ordering: .releasing)
        batches.add(1, ordering: .relaxed)
    }
}

/// A transaction that has locked the head in PostgreSQL.
private final class NodeTransaction: UpstreamTransaction {
    let missed: SharedChanges
    private(set) var isCommitted = false
    private let transaction: ClusterTransaction
    private let upstream: ClusterUpstream

    init(_ transaction: ClusterTransaction, of upstream: ClusterUpstream) {
        self.transaction = transaction
        self.upstream = upstream
        missed = transaction.tail.shared
    }

    func commit(_ changes: StoreChanges) throws(StoreFailure) -> SharedState {
        guard !changes.isEmpty || transaction.hasRequests else {
            try confirm()
            return missed.state
        }
        let batch = UUIDBytes.random()
        let begin = upstream.now
        do throws(PostgresFailure) {
            try transaction.commit(changes, as: batch)
        } catch .unavailable {
            upstream.lost(since: begin)
            guard try upstream.wasDone(batch) else {
                throw upstream.interruption()
            }
        } catch {
            throw StoreFailure(error)
        }
        isCommitted = true
        upstream.committed(changes.change)
        return SharedState(
            change: changes.change,
            mark: StateMark(epoch: transaction.tail.head.epoch, batch: batch).bytes)
    }

    /// Ends a transaction without a change. What it answers, as for a write that is repeated under
    /// its key, may be what another one has committed that the standbys have not confirmed.
    private func confirm() throws(StoreFailure) {
        let begin = upstream.now
        do throws(PostgresFailure) {
            try transaction.confirm()
            upstream.ended()
        } catch .unavailable {
            upstream.lost(since: begin)
            throw upstream.interruption()
        } catch {
            throw StoreFailure(error)
        }
    }

    func cancel() {
        transaction.cancel()
        upstream.isAtWork.store(false, ordering: .relaxed)
    }

    func request(key: String) throws -> RememberedRequest? {
        try asking { try transaction.request(key: key) }
    }

    /// What PostgreSQL answers before anything is committed.
    private func asking<Answer>(_ body: () throws -> Answer) throws -> Answer {
        do {
            return try body()
        } catch PostgresFailure.unavailable {
            throw upstream.interruption()
        }
    }

    func remember(_ request: RememberedRequest, key: String) {
        transaction.remember(request, key: key)
    }

    func remembers(atLeast count: Int) throws -> Bool {
        try asking { try transaction.remembers(atLeast: count) }
    }

    func oldestRequestTime() -> Int64? { transaction.oldestRequestTime() }

    func deleteRequests(until time: Int64, atMost count: Int) {
        transaction.deleteRequests(until: time, atMost: count)
    }
}

extension StoreFailure {
    /// The failure of a node's store that stands for one of PostgreSQL.
    init(_ failure: PostgresFailure) {
        switch failure {
        case .unavailable, .locked: self = .unreachable(failure.description)
        case .full: self = .full
        case .unstorable: self = .unstorable(failure.description)
        case .unusable, .failed: self = .failed(failure.description)
        }
    }
}
