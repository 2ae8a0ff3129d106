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
    private let logger: Logger
    private let now: @Sendable () -> Int64
    private let metrics = StoreMetrics()
    private let stopping = DispatchSemaphore(value: 0)
    private let stopped = DispatchSemaphore(value: 0)
    private var ticks = 0
    private var isFailing = false

    private static let tick = DispatchTimeInterval.milliseconds(200)
    /// In ticks. Checkpoints are not made more often than need be: a page goes into the file once for
    /// all the times it was written in between.
    private static let (secondly, sweepEvery) = (5, 300)

    init(
        store: ObjectStore, engine: InMemoryEngine, writer: Writer, logger: Logger,
        now: @escaping @Sendable () -> Int64
    ) {
        self.store = store
        self.engine = engine
        self.writer = writer
        self.logger = logger
        self.now = now
        let thread = Thread { [weak self, stopping, stopped] in
            Precedence.checkpoints.take()
            while stopping.wait(timeout: .now() + Self.tick) == .timedOut, let self {
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
        if isSecond { engine.mergeAtRest() }
        do throws(StoreFailure) {
            let start = ContinuousClock.now
            if try store.checkpoint() { writer.finishCheckpoint() }
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
}
