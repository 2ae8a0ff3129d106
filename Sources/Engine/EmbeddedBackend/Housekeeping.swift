import CGlibc
import InMemoryEngine
import Logging
import Runtime
import Synchronization

/// The recurring work beside the writes: checkpoints, the removal of expired and outdated data, the
/// return of free memory, and merges of indexes at rest.
///
/// `@unchecked Sendable`: only the housekeeping thread accesses `ticks`, `isFailing` and
/// `isShrinking`.
final class Housekeeping: @unchecked Sendable {
    private let store: SQLiteStore
    private let engine: Engine
    private let writer: Writer
    private let exports: Exports
    private let logger: Logger
    private let clock: ServiceClock
    private let metrics: StoreMetrics
    private let thread = WorkThread("housekeeping", .background)
    private let interval: Duration
    /// So many free pages are nothing to act on.
    private let freePages: Int
    private let isStopped = Atomic(false)
    private var ticks = 0
    private var isFailing = false
    /// Whether pages that hold nothing are being given back.
    private var isShrinking = false

    /// The number of ticks between two times at which free memory is returned.
    private static let sweepEvery = 30
    /// One free page in so many is nothing to act on.
    private static let shareOfFreePages = 8
    /// The least time between two checkpoints.
    private static let checkpointPause = Duration.milliseconds(200)

    init(
        store: SQLiteStore, engine: Engine, writer: Writer, exports: Exports,
        tuning: Engine.Tuning, logger: Logger, clock: ServiceClock
    ) {
        self.exports = exports
        self.store = store
        self.engine = engine
        self.writer = writer
        self.logger = logger
        self.clock = clock
        metrics = StoreMetrics(clock: clock)
        interval = tuning.housekeeping
        freePages = tuning.freePages
        store.checkpointDue.set { [weak self] in
            self?.thread.async(after: Self.checkpointPause) { [weak self] in
                self?.attempt { try $0.checkpoint() }
            }
        }
        scheduleTick()
    }

    /// Lets malloc keep little free memory of the whole process, so that what a load or a deletion
    /// needed goes back to the system. It should be called before much is allocated.
    ///
    /// Allocations of 4 MiB and more are mapped by themselves; an arena keeps up to 2 MiB at its end.
    static func limitFreeMemory() { gb_malloc_thresholds(4 << 20, 2 << 20) }

    private func scheduleTick() {
        thread.async(after: interval) { [weak self] in
            guard let self, !isStopped.load(ordering: .relaxed) else { return }
            attempt { try $0.tick() }
            scheduleTick()
        }
    }

    /// Returns when no housekeeping is in progress any more.
    func stop() {
        isStopped.store(true, ordering: .relaxed)
        thread.drain()
    }

    private func tick() throws(StoreFailure) {
        ticks += 1
        // SQLite keeps the pages of a load that is long over, and malloc what connections and queries
        // have freed, in the arena of any thread.
        switch ticks % Self.sweepEvery {
        case Self.sweepEvery - 1: store.releaseIdleCaches()
        case 0: gb_malloc_trim()
        default: break
        }
        engine.mergeAtRest()
        engine.endOverdueWaits()
        noteDisplacement()
        try checkpoint()
        try shrink()
        if try store.hasExpired(at: clock.milliseconds()) { writer.removeExpired() }
        if ticks % Self.sweepEvery == 1 {
            writer.forgetOld()
            writer.removeUpstreamRows()
            writer.rememberUsedColumns()
            writer.forgetFields(except: engine.usedFields())
        }
    }

    /// Checkpoints are no more frequent than necessary, because a checkpoint writes a page to the file
    /// once, however often it was written in between.
    private func checkpoint() throws(StoreFailure) {
        let start = clock.now
        if try store.checkpoint() { writer.finishCheckpoint() }
        exports.endThoseThatKeepTooMuch(logBytes: store.logLength)
        metrics.checkpointed(since: start)
    }

    /// Has the writer give pages back, one turn a tick, if more than an eighth of the file holds
    /// nothing, and not just a few: until it is half of that. Writes will use the rest.
    private func shrink() throws(StoreFailure) {
        let (all, free) = try store.countPages()
        let most = max(all / Self.shareOfFreePages, freePages)
        isShrinking = free > (isShrinking ? most / 2 : most)
        if isShrinking { writer.giveBackPages(keeping: most / 2) }
    }

    private func attempt(_ body: (Housekeeping) throws -> Void) {
        guard !isStopped.load(ordering: .relaxed) else { return }
        do {
            try body(self)
            isFailing = false
        } catch {
            // Housekeeping is retried constantly, so a failure is logged once.
            if !isFailing {
                logger.warning("housekeeping fails for now", metadata: ["reason": "\(error)"])
            }
            isFailing = true
        }
    }

    /// Logs that the store's file has been moved or deleted, before a write finds out.
    private func noteDisplacement() {
        do throws(StoreFailure) {
            try store.checkFiles()
        } catch {
            writer.note(error)
        }
    }
}
