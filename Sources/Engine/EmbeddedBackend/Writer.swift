import BackendContract
import InMemoryEngine
import JSONText
import Logging
import Objects
import Runtime
import Synchronization

/// The one writer. It takes waiting writes and combines them into one transaction (group commit).
/// It then applies them to the engine and answers them.
///
/// The owners of writes share the writer by the bytes of their writes. A transaction takes the
/// writes that waited when it began, for at most `commitMilliseconds`, and no long write besides
/// writes of other owners. A client that sends many or long writes at once therefore makes others
/// wait for one of its writes, or for some milliseconds, but not for all of them.
final class Writer: Sendable {
    private struct State {
        var pending = FairQueue<PendingWrite>()
        /// Writes that were taken, and that wait until the store has caught up with its upstream.
        var returned: ArraySlice<PendingWrite> = []
        var isScheduled = false

        var count: Int { returned.count + pending.count }

        var next: PendingWrite? { returned.first ?? pending.first }

        mutating func takeNext() -> PendingWrite? {
            returned.popFirst() ?? pending.popFirst()?.element
        }
    }

    /// Parsers whose buffers have already grown, and random numbers that are there.
    ///
    /// `@unchecked Sendable`: only the writer's thread uses them.
    final class Tools: @unchecked Sendable {
        let first = JSONParser()
        let second = JSONParser()
        var random = RandomBuffer()
    }

    let store: SQLiteStore
    let engine: Engine
    let upstream: (any Upstream)?
    private let limits: Limits
    let tuning: Engine.Tuning
    let logger: Logger
    let clock: ServiceClock
    let thread: WriterThread
    let searchers = FairWorkers("search", .costlyReads, threads: Writer.searchThreads)
    /// The writes that search and have not been answered.
    let searches = UnderWayCount()
    let removals = Mutex(RowRemovals())
    /// The deletions that other stores are about to do.
    let foreseen = Mutex<[BucketName: ForeseenDeletion]>([:])
    /// Whether expired objects are being removed, turn by turn.
    let isRemovingExpired = Atomic(false)
    /// Whether rows of deleted objects are being removed from the upstream, turn by turn.
    let isRemovingUpstreamRows = Atomic(false)
    let tools = Tools()
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
        thread = WriterThread(metrics: metrics)
    }

    /// The number of write transactions so far.
    var commits: Int { committed.load(ordering: .relaxed) }

    func submit(
        _ write: Write, _ key: RequestKey?, by owner: String,
        _ completion: @escaping @Sendable (Result<WriteAnswer, ServiceFailure>) -> Void
    ) {
        let pending = PendingWrite(write, key, by: owner, completion)
        guard write.searches else { return enqueue(pending) }
        searches.begin()
        search(pending)
    }

    func enqueue(_ pending: PendingWrite) {
        let isFirst = state.withLock { state in
            state.pending.append(pending, of: pending.owner, cost: pending.bytes)
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
    var waiting: Int { state.withLock { $0.count } }

    /// Returns when every write submitted so far has been answered.
    func drain() {
        repeat {
            searches.drain()
            thread.drain()
        } while state.withLock { $0.isScheduled }
    }

    /// Returns when every write submitted so far has been answered and nothing accesses the store
    /// any more.
    func end() {
        isEnding.store(true, ordering: .relaxed)
        drain()
    }

    /// Commits one group. Other jobs that wait for the writer's thread run before the next group.
    private func run() {
        guard let (first, waiting) = begin() else { return }
        if let first = settled(first) { commit([first], joinedBy: waiting) }
        if let upstream, state.withLock({ !$0.returned.isEmpty }) {
            upstream.whenCaughtUp { [self] failure in thread.async { self.goOn(failure) } }
        } else {
            thread.async { self.run() }
        }
    }

    /// Commits the writes that had to wait, or refuses them and those that have come since.
    private func goOn(_ failure: StoreFailure?) {
        if let failure, let (first, waiting) = begin() {
            fail([first], failure, joinedBy: waiting)
        }
        run()
    }

    /// Takes the first write of the next group, and counts the writes that wait after it.
    private func begin() -> (first: PendingWrite, waiting: Int)? {
        state.withLock { state in
            guard let first = state.takeNext() else {
                state.isScheduled = false
                return nil
            }
            return (first, state.count)
        }
    }

    /// Takes another write for the group that begins with `first`. A write that has to see earlier
    /// writes through the engine begins a group of its own, and so does one that would make other
    /// owners wait long.
    ///
    /// - Parameter mayHaveKey: whether a write with a request key is taken too.
    private func take(
        following first: PendingWrite, withKey mayHaveKey: Bool = true
    ) -> PendingWrite? {
        state.withLock { state in
            guard let next = state.next, !next.write.needsPublished,
                mayHaveKey || next.key == nil,
                next.owner == first.owner || next.bytes < tuning.bytesForOwnGroup
            else { return nil }
            return state.takeNext()
        }
    }

    /// - Parameter count: the number of writes that waited when the group began; nil if no other
    ///   write may join it.
    private func commit(_ begun: [PendingWrite], joinedBy count: Int? = nil) {
        let start = clock.now
        var group = begun
        do throws(StoreFailure) {
            let answers = try transact(
                deletingMany: deletesMany(group[0]), keys: keys(of: group)
            ) { evaluator, session in
                // More writes may have come while the upstream's lock was waited for. Each key of
                // theirs would cost a round trip, because it was not looked up with the lock.
                let most = count.map { max($0, waiting) } ?? 0
                let end = clock.deadline(after: .milliseconds(limits.commitMilliseconds))
                var answers = try group.map { try perform($0, evaluator, session) }
                while group.count <= most, !end.isOver,
                    let next = take(following: group[0], withKey: group.count <= count ?? 0)
                {
                    group.append(next)
                    answers.append(try perform(next, evaluator, session))
                }
                return answers
            }
            note(nil)
            committed.add(1, ordering: .relaxed)
            metrics.committed(group.count, since: start)
            for (pending, result) in zip(group, answers) {
                if let result { answer(pending, result) } else { search(pending) }
            }
        } catch {
            fail(group, error, joinedBy: count)
        }
    }

    /// Judges a write on the state of the transaction, unless the store lacks its bucket.
    ///
    /// - Returns: nil if so much has been written since it searched that it has to search again.
    private func perform(
        _ pending: PendingWrite, _ evaluator: WriteEvaluator<WriteSession>,
        _ session: WriteSession
    ) throws -> Result<WriteAnswer, ServiceFailure>? {
        if let refusal = upstream?.refusal(of: pending.write.bucket) { return .failure(refusal) }
        switch outcomeOfSearch(pending) {
        case .success(let found): session.found = found ?? session.found
        case .failure(let failure): return .failure(failure)
        case nil: return nil
        }
        return try evaluator.perform(pending.write, key: pending.key)
    }

    /// One write may have caused the failure of a whole group, so each write is retried in its own
    /// transaction. A lock held by another process, or an upstream that is not there, is caused by
    /// no write, and each retry would wait for it again.
    private func fail(_ begun: [PendingWrite], _ error: StoreFailure, joinedBy count: Int?) {
        var group = begun
        switch error {
        case .interrupted: return commit(group)
        case .behind: return state.withLock { $0.returned += begun }
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
        for pending in group { answer(pending, .failure(ServiceFailure(error))) }
    }

    /// The number of waiting writes whose request keys are looked up with a group.
    private static let keysAtOnce = 256

    /// The request keys of a group and of some writes that wait.
    private func keys(of group: [PendingWrite]) -> [String] {
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
    ///   - deletesMany: whether so much is deleted that the engine keeps all present documents; asked
    ///     when the store has what others have written.
    ///   - keys: the request keys that will probably be looked up.
    func transact<Result>(
        deletingMany deletesMany: @autoclosure () -> Bool = false, keys: [String] = [],
        _ body: (WriteEvaluator<WriteSession>, WriteSession) throws -> Result
    ) throws(StoreFailure) -> Result {
        let shared = try upstream?.begin(after: engine.change, keys: keys)
        defer { shared?.cancel() }
        if let shared { try apply(shared.missed) }
        let deletesMany = deletesMany()
        if deletesMany { engine.supersedeAll(FrozenDocuments(store: try store.freeze())) }
        do throws(StoreFailure) {
            return try transact(isAllSuperseded: deletesMany, shared, body)
        } catch {
            engine.supersedeNothing()
            throw error
        }
    }

    private func transact<Result>(
        isAllSuperseded: Bool, _ shared: (any UpstreamTransaction)?,
        _ body: (WriteEvaluator<WriteSession>, WriteSession) throws -> Result
    ) throws(StoreFailure) -> Result {
        let time = clock.milliseconds()
        let parser = tools.first
        var done: Result?
        do throws(StoreFailure) {
            let (session, written, changes) = try store.write { transaction in
                if shared != nil { transaction.beginJournal() }
                let session = WriteSession(
                    transaction: transaction, engine: engine, parser: parser,
                    isAllSuperseded: isAllSuperseded, upstream: upstream, requests: shared)
                let evaluator = WriteEvaluator(
                    on: session, at: time, limits: limits, parser: parser,
                    secondParser: tools.second
                ) { [tools] in ObjectID.new(at: $0, from: &tools.random) }
                done = try body(evaluator, session)
                try session.storePlaces()
                return (session, clock.now, try commit(transaction, to: shared))
            }
            metrics.synced(since: written)
            if let changes { upstream?.publishing(changes.state) }
            if !session.nextSnapshot.isUnchanged {
                publish(session)
            } else if isAllSuperseded {
                engine.supersedeNothing()
            }
            removeRows(of: session.listed)
            if let changes { upstream?.published(changes) }
            if !session.listed.isEmpty { removeUpstreamRows() }
        } catch {
            // What the upstream has committed is done. This store takes it over later.
            guard let shared, shared.isCommitted else { throw error }
            engine.supersedeNothing()
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
        if let found = session.found { engine.end(found) }
        for deletion in session.foreseen.values { engine.end(deletion) }
        engine.publish(session.nextSnapshot, upTo: session.lastChange)
        metrics.published(since: start)
    }

    /// Whether a write deletes so much that all present documents are kept for readers, instead of
    /// one after the other.
    private func deletesMany(_ pending: PendingWrite) -> Bool {
        let count =
            pending.found?.creations.count
            ?? (pending.write.needsPublished ? engine.count(of: pending.write.bucket) : 0)
        return count > tuning.deletedAtOnce
    }
}
