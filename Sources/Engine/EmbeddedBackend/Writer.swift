import BackendContract
import InMemoryEngine
import JSONText
import Logging
import ObjectStore
import Objects
import Runtime
import Synchronization
import WriteRules

/// The one writer. It takes waiting writes and combines them into one transaction (group commit).
/// It then applies them to the engine and answers them.
///
/// The owners of writes share the writer by the bytes of their writes. A transaction takes the
/// writes that waited when it began, for at most `commitMilliseconds`, and no long write besides
/// writes of other owners. A client that sends many or long writes at once therefore makes others
/// wait for one of its writes, or for some milliseconds, but not for all of them.
final class Writer: Sendable {
    private struct Pending: Sendable {
        let write: Write
        let key: RequestKey?
        let owner: String
        let bytes: Int
        let completion: @Sendable (Result<WriteAnswer, ServiceFailure>) -> Void
    }

    private struct State {
        var pending = FairQueue<Pending>()
        var isScheduled = false
    }

    /// Parsers whose buffers have already grown.
    ///
    /// `@unchecked Sendable`: only the writer's thread uses them.
    private final class Parsers: @unchecked Sendable {
        let first = JSONParser()
        let second = JSONParser()
    }

    let store: SQLiteStore
    let engine: Engine
    let upstream: (any Upstream)?
    private let limits: Limits
    let tuning: Engine.Tuning
    let logger: Logger
    let clock: ServiceClock
    let thread = WorkThread("writer", .writer)
    private let parsers = Parsers()
    private let state = Mutex(State())
    private let isFailing = Mutex(false)
    private let committed = Atomic(0)
    /// Whether the writer is ending and runs nothing but writes.
    private let isEnding = Atomic(false)
    private let metrics: StoreMetrics

    init(
        store: SQLiteStore, engine: Engine, upstream: (any Upstream)?, limits: Limits,
        tuning: Engine.Tuning, logger: Logger, clock: ServiceClock
    ) {
        self.store = store
        self.engine = engine
        self.upstream = upstream
        self.limits = limits
        self.tuning = tuning
        self.logger = logger
        self.clock = clock
        metrics = StoreMetrics(clock: clock)
    }

    /// The number of write transactions so far.
    var commits: Int { committed.load(ordering: .relaxed) }

    func submit(
        _ write: Write, _ key: RequestKey?, by owner: String,
        _ completion: @escaping @Sendable (Result<WriteAnswer, ServiceFailure>) -> Void
    ) {
        let pending = Pending(
            write: write, key: key, owner: owner, bytes: write.memoryBytes, completion: completion)
        let isFirst = state.withLock { state in
            state.pending.append(pending, of: owner, cost: pending.bytes)
            defer { state.isScheduled = true }
            return !state.isScheduled
        }
        if isFirst { thread.async { self.run() } }
    }

    /// Installs the results of the engine's background work between two transactions.
    func installBackgroundWork() {
        betweenWrites { [self] in
            let start = clock.now
            engine.installBackgroundWork()
            metrics.published(since: start)
            rememberColumns()
        }
    }

    /// Runs a job between two transactions, unless the writer is ending.
    func betweenWrites(_ job: @escaping @Sendable () -> Void) {
        thread.async { [self] in
            if !isEnding.load(ordering: .relaxed) { job() }
        }
    }

    /// Stores the order in which columns were used.
    func rememberUsedColumns() {
        engine.noteUsedColumns()
        betweenWrites { self.rememberColumns() }
    }

    /// Stores the list of columns, so that the next start can build them again.
    private func rememberColumns() {
        guard let columns = engine.takeChangedColumns() else { return }
        do {
            try store.set(ColumnCatalogue.setting, to: ColumnCatalogue.encode(columns))
        } catch {
            logger.warning("the columns are not remembered", metadata: ["reason": "\(error)"])
        }
    }

    /// The number of writes that wait for the next transaction.
    var waiting: Int { state.withLock { $0.pending.count } }

    /// Returns when every write submitted so far has been answered.
    func drain() {
        repeat { thread.drain() } while state.withLock { $0.isScheduled }
    }

    /// Returns when every write submitted so far has been answered and nothing accesses the store
    /// any more.
    func end() {
        isEnding.store(true, ordering: .relaxed)
        drain()
    }

    /// Runs `body` between two transactions, when the store and the engine have the same state.
    ///
    /// - Parameter changes: if it is not nil, that is the state that its result leads to.
    func holding<State>(
        following changes: (() throws -> SharedChanges)? = nil,
        _ body: () throws(StoreFailure) -> State
    ) throws(StoreFailure) -> State {
        try thread.sync { () throws(StoreFailure) in
            if let changes {
                do {
                    try apply(try changes())
                } catch {
                    throw StoreFailure(error, path: store.path)
                }
            }
            return try body()
        }
    }

    /// Commits one group. Other jobs that wait for the writer's thread run before the next group.
    private func run() {
        guard let (first, waiting) = begin() else { return }
        commit([first], joinedBy: waiting)
        thread.async { self.run() }
    }

    /// Takes the first write of the next group, and counts the writes that wait after it.
    private func begin() -> (first: Pending, waiting: Int)? {
        state.withLock { state in
            guard let (_, first) = state.pending.popFirst() else {
                state.isScheduled = false
                return nil
            }
            return (first, state.pending.count)
        }
    }

    /// Takes another write for the group that begins with `first`. A write that has to see earlier
    /// writes through the engine begins a group of its own, and so does one that would make other
    /// owners wait long.
    ///
    /// - Parameter mayHaveKey: whether a write with a request key is taken too.
    private func take(following first: Pending, withKey mayHaveKey: Bool = true) -> Pending? {
        state.withLock { state in
            guard let next = state.pending.first, !next.write.needsPublished,
                mayHaveKey || next.key == nil,
                next.owner == first.owner || next.bytes < tuning.bytesForOwnGroup
            else { return nil }
            return state.pending.popFirst()?.element
        }
    }

    /// - Parameter count: the number of writes that waited when the group began; nil if no other
    ///   write may join it.
    private func commit(_ begun: [Pending], joinedBy count: Int? = nil) {
        let start = clock.now
        var group = begun
        do throws(StoreFailure) {
            let answers = try transact(
                deletingMany: deletesMany(group[0].write), keys: keys(of: group)
            ) { evaluator in
                // More writes may have come while the upstream's lock was waited for. Each key of
                // theirs would cost a round trip, because it was not looked up with the lock.
                let most = count.map { max($0, waiting) } ?? 0
                let end = clock.deadline(after: .milliseconds(limits.commitMilliseconds))
                var answers = try group.map { try perform($0, evaluator) }
                while group.count <= most, !end.isOver,
                    let next = take(following: group[0], withKey: group.count <= count ?? 0)
                {
                    group.append(next)
                    answers.append(try perform(next, evaluator))
                }
                return answers
            }
            note(nil)
            committed.add(1, ordering: .relaxed)
            metrics.committed(group.count, since: start)
            for (pending, answer) in zip(group, answers) { pending.completion(answer) }
        } catch {
            fail(group, error, joinedBy: count)
        }
    }

    /// Judges a write on the state of the transaction, unless the store lacks its bucket.
    private func perform(
        _ pending: Pending, _ evaluator: WriteEvaluator<WriteSession>
    ) throws -> Result<WriteAnswer, ServiceFailure> {
        if let refusal = upstream?.refusal(of: pending.write.bucket) { return .failure(refusal) }
        return try evaluator.perform(pending.write, key: pending.key)
    }

    /// One write may have caused the failure of a whole group, so each write is retried in its own
    /// transaction. A lock held by another process, or an upstream that is not there, is caused by
    /// no write, and each retry would wait for it again.
    private func fail(_ begun: [Pending], _ error: StoreFailure, joinedBy count: Int?) {
        var group = begun
        switch error {
        case .interrupted: return commit(group)
        case .busy, .unreachable, .diverged:
            while group.count <= count ?? 0, let next = take(following: group[0]) {
                group.append(next)
            }
        default:
            if group.count > 1 {
                for pending in group { commit([pending]) }
                return
            }
        }
        note(error)
        for pending in group { pending.completion(.failure(ServiceFailure(error))) }
    }

    /// The number of waiting writes whose request keys are looked up with a group.
    private static let keysAtOnce = 256

    /// The request keys of a group and of some writes that wait.
    private func keys(of group: [Pending]) -> [String] {
        guard upstream != nil else { return [] }
        let waiting = state.withLock {
            $0.pending.elements.lazy.compactMap(\.key).prefix(Self.keysAtOnce).map(\.text)
        }
        return group.compactMap(\.key?.text) + waiting
    }

    /// Logs when writes begin to fail or succeed again. A damaged object concerns one write only,
    /// and the answer to that write is logged.
    func note(_ failure: StoreFailure?) {
        if case .damagedObject = failure { return }
        let hasChanged = isFailing.withLock { isFailing in
            defer { isFailing = failure != nil }
            return isFailing != (failure != nil)
        }
        guard hasChanged else { return }
        if let failure {
            logger.error("writes fail", metadata: ["reason": "\(failure)"])
        } else {
            logger.notice("writes succeed again")
        }
    }

    /// Runs one transaction, and applies its changes to the engine once they are durable.
    ///
    /// - Parameters:
    ///   - deletesMany: whether so much is deleted that the engine keeps all present documents.
    ///   - keys: the request keys that will probably be looked up.
    func transact<Result>(
        deletingMany deletesMany: Bool = false, keys: [String] = [],
        _ body: (WriteEvaluator<WriteSession>) throws -> Result
    ) throws(StoreFailure) -> Result {
        let shared = try upstream?.begin(after: engine.change, keys: keys)
        defer { shared?.cancel() }
        if let shared { try apply(shared.missed) }
        if deletesMany { engine.supersedeAll(FrozenDocuments(store: try store.freeze())) }
        do throws(StoreFailure) {
            return try transact(isAllSuperseded: deletesMany, shared, body)
        } catch {
            engine.supersedeAll(nil)
            throw error
        }
    }

    private func transact<Result>(
        isAllSuperseded: Bool, _ shared: (any UpstreamTransaction)?,
        _ body: (WriteEvaluator<WriteSession>) throws -> Result
    ) throws(StoreFailure) -> Result {
        let time = clock.milliseconds()
        let parser = parsers.first
        var done: Result?
        do throws(StoreFailure) {
            let (session, written, changes) = try store.write { transaction in
                if shared != nil { transaction.beginJournal() }
                let session = WriteSession(
                    transaction: transaction, engine: engine, parser: parser,
                    isAllSuperseded: isAllSuperseded, upstream: upstream, requests: shared)
                let evaluator = WriteEvaluator(
                    on: session, at: time, limits: limits, parser: parser,
                    secondParser: parsers.second
                ) {
                    var random = SystemRandomNumberGenerator()
                    return ObjectID.new(at: $0, from: &random)
                }
                done = try body(evaluator)
                return (session, clock.now, try commit(transaction, to: shared))
            }
            metrics.synced(since: written)
            if !session.nextSnapshot.isUnchanged {
                publish(session)
            } else if isAllSuperseded {
                engine.supersedeAll(nil)  // nothing was superseded
            }
            if let changes { upstream?.published(changes) }
        } catch {
            // What the upstream has committed is done. This store takes it over later.
            guard let shared, shared.isCommitted else { throw error }
            engine.supersedeAll(nil)
            logger.error("the copy cannot be written", metadata: ["reason": "\(error)"])
        }
        return done!
    }

    /// Commits the changes of a transaction to the upstream, if there is one.
    private func commit(
        _ transaction: StoreTransaction, to shared: (any UpstreamTransaction)?
    ) throws -> SharedChanges? {
        guard let shared, let changes = transaction.journaled else { return nil }
        let state = try shared.commit(changes)
        try transaction.set(SharedState.setting, to: state.mark)
        return SharedChanges(to: state, by: changes)
    }

    func publish(_ session: WriteSession) {
        let start = clock.now
        engine.publish(session.nextSnapshot, upTo: session.lastChange)
        metrics.published(since: start)
    }

    // MARK: Changes of other stores

    /// Applies and publishes what other stores have changed. It returns when that is visible.
    func follow(_ shared: SharedChanges) throws(StoreFailure) {
        try thread.sync { () throws(StoreFailure) in try apply(shared) }
    }

    /// Applies the part of some changes that the store does not have yet.
    func apply(_ shared: SharedChanges) throws(StoreFailure) {
        guard shared.state.change > engine.change else { return }
        let changes = shared.changes.after(engine.change)
        let deletesMany = changes.tombstones.count > tuning.objectsForFreezing
        if deletesMany { engine.supersedeAll(FrozenDocuments(store: try store.freeze())) }
        do throws(StoreFailure) {
            let session = try store.write { transaction in
                let session = WriteSession(
                    transaction: transaction, engine: engine, parser: parsers.first,
                    isAllSuperseded: deletesMany)
                try session.apply(changes)
                try transaction.set(SharedState.setting, to: shared.state.mark)
                return session
            }
            publish(session)
        } catch {
            engine.supersedeAll(nil)
            throw error
        }
        upstream?.published(shared)
    }

    private func deletesMany(_ write: Write) -> Bool {
        write.needsPublished && engine.count(of: write.bucket) > tuning.objectsForFreezing
    }
}
