import CGlibc
import Foundation
import InMemoryEngine
import Logging
import ObjectStore

/// What has to be done from time to time beside the writes: checkpoints, the removal of what is not
/// needed any more, free memory too, and the order of indexes at rest.
///
/// On a thread of its own, as a thread's precedence is for good.
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
    private let stopping = DispatchSemaphore(value: 0)
    private let stopped = DispatchSemaphore(value: 0)
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
        let thread = Thread { [weak self, stopping, stopped] in
            Precedence.checkpoints.take()
            let tick = DispatchTimeInterval.microseconds(Int(tick / .microseconds(1)))
            while stopping.wait(timeout: .now() + tick) == .timedOut, let self {
                self.tick()
            }
            stopped.signal()
        }
        thread.name = "housekeeping"
        thread.start()
    }

    /// Returns when nothing is being done any more.
    func stop() {
        stopping.signal()
        stopped.wait()
        stopped.signal()  // for who asks again
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
            try store.checkPlace()
        } catch {
            writer.note(error)
        }
    }
}
