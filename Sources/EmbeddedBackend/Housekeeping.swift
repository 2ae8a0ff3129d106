import CGlibc
import Dispatch
import InMemoryEngine
import Logging
import ObjectStore

/// What has to be done from time to time beside the writes: checkpoints, the removal of what is not
/// needed any more, free memory too, and the order of indexes at rest.
///
/// `@unchecked Sendable`: `ticks` and `isFailing` are touched on `queue` only, the timer is made before
/// anybody else has a reference.
final class Housekeeping: @unchecked Sendable {
    private let store: ObjectStore
    private let engine: InMemoryEngine
    private let writer: Writer
    private let logger: Logger
    private let now: @Sendable () -> Int64
    private let queue = DispatchQueue(label: "geobucket.housekeeping", qos: .utility)
    private let metrics = StoreMetrics()
    private let timer: any DispatchSourceTimer
    private var ticks = 0
    private var isFailing = false

    private static let tickMilliseconds = 200
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
        timer = DispatchSource.makeTimerSource(queue: queue)
        let interval = DispatchTimeInterval.milliseconds(Self.tickMilliseconds)
        timer.schedule(deadline: .now() + interval, repeating: interval)
        timer.setEventHandler { [weak self] in self?.tick() }
        timer.resume()
    }

    /// Returns when nothing is being done any more.
    func stop() {
        timer.cancel()
        queue.sync {}
    }

    private func tick() {
        ticks += 1
        let isSecond = ticks % Self.secondly == 0
        guard isSecond || store.isCheckpointDue else { return }
        Precedence.giveWayToReaders()
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
