import Backend
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

    private let store: ObjectStore
    private let engine: InMemoryEngine
    private let limits: Limits
    private let tuning: InMemoryEngine.Tuning
    private let logger: Logger
    private let now: @Sendable () -> Int64
    private let thread = WorkThread("writer", .writer)
    private let state = Mutex(State())
    private let isFailing = Mutex(false)
    private let committed = Atomic(0)
    /// Whether the writer is ending and runs nothing but writes.
    private let isEnding = Atomic(false)
    private let metrics = StoreMetrics()
    /// The time for which tombstones are kept, in milliseconds.
    private static let tombstoneMilliseconds: Int64 = 7 * 86_400_000

    init(
        store: ObjectStore, engine: InMemoryEngine, limits: Limits, tuning: InMemoryEngine.Tuning,
        logger: Logger, now: @escaping @Sendable () -> Int64
    ) {
        self.store = store
        self.engine = engine
        self.limits = limits
        self.tuning = tuning
        self.logger = logger
        self.now = now
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
            let start = ContinuousClock.now
            engine.installBackgroundWork()
            metrics.published(since: start)
            rememberColumns()
        }
    }

    /// Runs a job between two transactions, unless the writer is ending.
    private func betweenWrites(_ job: @escaping @Sendable () -> Void) {
        thread.async { [self] in
            if !isEnding.load(ordering: .relaxed) { job() }
        }
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
    func holding<State>(
        _ body: () throws(StoreFailure) -> State
    ) throws(StoreFailure) -> State {
        try thread.sync(body)
    }

    /// Commits one group. Other jobs that wait for the writer's thread run before the next group.
    private func run() {
        guard let (first, waiting) = begin() else { return }
        commit(first, andUpTo: waiting)
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
    private func take(following first: Pending) -> Pending? {
        state.withLock { state in
            guard let next = state.pending.first, !next.write.needsPublished,
                next.owner == first.owner || next.bytes < tuning.bytesForOwnGroup
            else { return nil }
            return state.pending.popFirst()?.element
        }
    }

    /// - Parameter count: the number of waiting writes that may join the group.
    private func commit(_ first: Pending, andUpTo count: Int = 0) {
        let start = ContinuousClock.now
        let end = start + .milliseconds(limits.commitMilliseconds)
        var group = [first]
        do throws(StoreFailure) {
            let isLarge = deletesMany(first.write)
            if isLarge { engine.supersedeAll(FrozenDocuments(store: try store.freeze())) }
            let answers = try transact(isAllSuperseded: isLarge) { evaluator in
                var answers = [try evaluator.perform(first.write, key: first.key)]
                while group.count <= count, ContinuousClock.now < end,
                    let next = take(following: first)
                {
                    group.append(next)
                    answers.append(try evaluator.perform(next.write, key: next.key))
                }
                return answers
            }
            note(nil)
            committed.add(1, ordering: .relaxed)
            metrics.committed(group.count, since: start)
            for (pending, answer) in zip(group, answers) { pending.completion(answer) }
        } catch {
            engine.supersedeAll(nil)
            // One write may have caused the failure of the whole group, so each write is retried in
            // its own transaction. A lock held by another process is caused by no write, and each
            // retry would wait for the lock again.
            if case .busy = error {
                note(error)
                while group.count <= count, let next = take(following: first) { group.append(next) }
                for pending in group { pending.completion(.failure(ServiceFailure(error))) }
            } else if group.count > 1 {
                for pending in group { commit(pending) }
            } else {
                note(error)
                group[0].completion(.failure(ServiceFailure(error)))
            }
        }
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
    private func transact<Result>(
        isAllSuperseded: Bool = false, _ body: (WriteEvaluator<WriteSession>) throws -> Result
    ) throws(StoreFailure) -> Result {
        let time = now()
        let parser = JSONParser()
        let (result, session, written) = try store.write { transaction in
            let session = WriteSession(
                transaction: transaction, engine: engine, parser: parser,
                isAllSuperseded: isAllSuperseded)
            let evaluator = WriteEvaluator(on: session, at: time, limits: limits, parser: parser) {
                var random = SystemRandomNumberGenerator()
                return ObjectID.new(at: $0, from: &random)
            }
            return (try body(evaluator), session, ContinuousClock.now)
        }
        metrics.synced(since: written)
        if !session.nextSnapshot.isUnchanged {
            let start = ContinuousClock.now
            engine.publish(session.nextSnapshot, upTo: session.lastChange)
            metrics.published(since: start)
        } else if isAllSuperseded {
            engine.supersedeAll(nil)  // nothing was superseded
        }
        return result
    }

    private func deletesMany(_ write: Write) -> Bool {
        write.needsPublished && engine.count(of: write.bucket) > tuning.objectsForFreezing
    }

    // MARK: Housekeeping

    /// Removes expired objects in batches, between two transactions.
    func removeExpired() {
        betweenWrites { [self] in
            do throws(StoreFailure) {
                let removed = try transact { try $0.removeExpired(atMost: tuning.removedAtOnce) }
                if removed == tuning.removedAtOnce { removeExpired() }
            } catch {
                logger.warning("expired objects are not removed", metadata: ["reason": "\(error)"])
            }
        }
    }

    /// Deletes old tombstones and old requests in batches.
    func forgetOld() {
        betweenWrites { [self] in
            do throws(StoreFailure) {
                let time = now()
                let forgotten = try store.write { transaction in
                    try transaction.deleteRequests(
                        until: time - RememberedRequest.milliseconds,
                        atMost: tuning.removedAtOnce)
                    return try transaction.deleteTombstones(
                        before: time - Self.tombstoneMilliseconds, atMost: tuning.removedAtOnce)
                }
                if forgotten == tuning.removedAtOnce { forgetOld() }
            } catch {
                logger.warning("old deletions are kept", metadata: ["reason": "\(error)"])
            }
        }
    }

    /// Completes a checkpoint so that the write-ahead log can restart.
    func finishCheckpoint() {
        betweenWrites { [self] in
            do throws(StoreFailure) {
                try store.finishCheckpoint()
            } catch {
                logger.warning("a checkpoint failed", metadata: ["reason": "\(error)"])
            }
        }
    }
}

extension Write {
    /// Whether the write has to see earlier writes through the engine.
    fileprivate var needsPublished: Bool {
        switch self {
        case .deleteBucket, .deleteWhere: true
        default: false
        }
    }
}

/// Wakes the writer for the engine, which is created before the writer.
final class WriterWakeup: Sendable {
    private struct Target: Sendable { weak var writer: Writer? }

    private let target = Mutex(Target())

    func connect(_ writer: Writer) { target.withLock { $0.writer = writer } }

    func fire() { target.withLock { $0.writer }?.installBackgroundWork() }
}
