import CGlibc
import InMemoryEngine
import Logging
import ObjectStore
import Runtime
import Synchronization

/// What has to be done from time to time beside the writes: checkpoints, the removal of what is not
/// needed any more, free memory too, and the order of indexes at rest.
///
/// `@unchecked Sendable`: `ticks` and `isFailing` are touched on that thread only.
final class Housekeeping: @unchecked Sendable {
    private let store: ObjectStore
    private let engine: InMemoryEngine
    private let writer: Writer
    private let exports: Exports
    private let logger: Logger
    private let now: @Sendable () -> Int64
    private let metrics = StoreMetrics()
    private let thread = WorkThread("housekeeping", .background)
    private let interval: Duration
    private let isStopped = Atomic(false)
    private var ticks = 0
    private var isFailing = false

    /// In ticks. Checkpoints are not made more often than need be: a page goes into the file once for
    /// all the times it was written in between.
    private static let (secondly, sweepEvery) = (5, 300)

    init(
        store: ObjectStore, engine: InMemoryEngine, writer: Writer, exports: Exports,
        tick: Duration,
        logger: Logger, now: @escaping @Sendable () -> Int64
    ) {
        self.exports = exports
        self.store = store
        self.engine = engine
        self.writer = writer
        self.logger = logger
        self.now = now
        interval = tick
        scheduleTick()
    }

    private func scheduleTick() {
        thread.async(after: interval) { [weak self] in
            guard let self, !isStopped.load(ordering: .relaxed) else { return }
            tick()
            scheduleTick()
        }
    }

    /// Returns when nothing is being done any more.
    func stop() {
        isStopped.store(true, ordering: .relaxed)
        thread.drain()
    }

    private func tick() {
        ticks += 1
        let isSecond = ticks % Self.secondly == 0
        guard isSecond || store.isCheckpointDue else { return }
        // What connections and queries have freed is kept by malloc, in whatever thread's arena.
        if ticks % Self.sweepEvery == 0 { gb_malloc_trim() }
        if isSecond {
            engine.mergeAtRest()
            noteDisplacement()
        }
        do throws(StoreFailure) {
            let start = ContinuousClock.now
            if try store.checkpoint() { writer.finishCheckpoint() }
            exports.endThoseThatKeepTooMuch(logBytes: store.logLength)
            metrics.checkpointed(since: start)
            if isSecond, try store.hasExpired(at: now()) { writer.removeExpired() }
            if ticks % Self.sweepEvery == Self.secondly { writer.forgetOld() }
            isFailing = false
        } catch {
            // Tried again all the time: said once.
            if !isFailing {
                logger.warning("housekeeping fails for now", metadata: ["reason": "\(error)"])
            }
            isFailing = true
        }
    }

    /// Says that the store's file is gone before somebody writes.
    private func noteDisplacement() {
        do throws(StoreFailure) {
            try store.checkFiles()
        } catch {
            writer.note(error)
        }
    }
}
