import Backend
import Dispatch
import InMemoryEngine
import Logging
import ObjectStore
import Objects
import Synchronization

/// The one writer: takes all writes that wait, puts them into one transaction (group commit), then
/// into the engine, then answers them in order.
final class Writer: Sendable {
    private struct Pending: Sendable {
        let write: Write
        let completion: @Sendable (Result<WriteAnswer, ServiceFailure>) -> Void
    }

    private struct State {
        var pending: [Pending] = []
        var isScheduled = false
    }

    private let store: ObjectStore
    private let engine: InMemoryEngine
    private let limits: Limits
    private let logger: Logger
    private let now: @Sendable () -> Int64
    private let queue = DispatchQueue(label: "geobucket.writer", qos: .userInitiated)
    private let state = Mutex(State())
    private let lastSweep = Mutex(Int64.min)

    /// Tombstones are swept at most once in this many milliseconds…
    private static let sweepMilliseconds: Int64 = 3_600_000
    /// …and kept for so many.
    private static let tombstoneMilliseconds: Int64 = 7 * 86_400_000

    init(
        store: ObjectStore, engine: InMemoryEngine, limits: Limits, logger: Logger,
        now: @escaping @Sendable () -> Int64
    ) {
        self.store = store
        self.engine = engine
        self.limits = limits
        self.logger = logger
        self.now = now
    }

    func submit(
        _ write: Write,
        _ completion: @escaping @Sendable (Result<WriteAnswer, ServiceFailure>) -> Void
    ) {
        let isFirst = state.withLock { state in
            state.pending.append(Pending(write: write, completion: completion))
            defer { state.isScheduled = true }
            return !state.isScheduled
        }
        if isFirst { queue.async { self.run() } }
    }

    /// Puts the results of the engine's background work in place, in turn with the writes.
    func installBackgroundWork() {
        queue.async {
            self.engine.installBackgroundWork()
            self.rememberColumns()
        }
    }

    /// Writes down which columns there are, so that a start can have them made again.
    private func rememberColumns() {
        guard let columns = engine.takeChangedColumns() else { return }
        do {
            try store.set(ColumnCatalogue.setting, to: ColumnCatalogue.encode(columns))
        } catch {
            logger.warning("the columns are not remembered", metadata: ["reason": "\(error)"])
        }
    }

    /// Returns when everything submitted so far has been answered.
    func drain() { queue.sync {} }

    private func run() {
        while let group = nextGroup() { commit(group) }
    }

    /// The writes of the next transaction. One that has to see the writes before it through the
    /// engine begins a group of its own.
    private func nextGroup() -> [Pending]? {
        state.withLock { state in
            guard !state.pending.isEmpty else {
                state.isScheduled = false
                return nil
            }
            let end =
                state.pending.dropFirst().firstIndex {
                    if case .deleteWhere = $0.write { true } else { false }
                } ?? state.pending.endIndex
            let group = Array(state.pending[..<end])
            state.pending.removeSubrange(..<end)
            return group
        }
    }

    private func commit(_ group: [Pending]) {
        let time = now()
        do throws(StoreFailure) {
            let (answers, session) = try store.write { transaction in
                let session = WriteSession(
                    transaction: transaction, engine: engine, limits: limits, now: time)
                let answers = try group.map { try session.perform($0.write) }
                try sweepTombstones(transaction, time)
                return (answers, session)
            }
            engine.apply(session.changes, upTo: session.lastChange)
            for (pending, answer) in zip(group, answers) { pending.completion(answer) }
        } catch {
            // One write may be to blame for all: each gets its own transaction.
            if group.count > 1 {
                for pending in group { commit([pending]) }
            } else {
                logger.error("a write failed", metadata: ["reason": "\(error)"])
                group[0].completion(.failure(ServiceFailure(error)))
            }
        }
    }

    private func sweepTombstones(_ transaction: StoreTransaction, _ time: Int64) throws {
        let isDue = lastSweep.withLock { last in
            guard last == .min || time - last >= Self.sweepMilliseconds else { return false }
            last = time
            return true
        }
        if isDue { try transaction.deleteTombstones(before: time - Self.tombstoneMilliseconds) }
    }
}

/// Lets the engine, made before the writer, wake it.
final class WriterPoke: Sendable {
    private struct Target: Sendable { weak var writer: Writer? }

    private let target = Mutex(Target())

    func connect(_ writer: Writer) { target.withLock { $0.writer = writer } }

    func fire() { target.withLock { $0.writer }?.installBackgroundWork() }
}
