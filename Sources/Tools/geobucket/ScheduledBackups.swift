import BackendContract
import CoreMetrics
import EmbeddedBackend
import Glibc
import Logging
import Runtime
import Synchronization

/// The backups that a service makes of its store by itself, on a thread of their own.
///
/// Each is copied and verified under another name first. When the next one is due depends on the newest
/// that is there, so a start makes one only if it is.
final class ScheduledBackups: Sendable {
    private let folder: BackupFolder
    private let times: Mutex<BackupTimes>
    private let backend: SQLiteBackend
    private let metrics: BackupMetrics
    private let clock: ServiceClock
    private let logger: Logger
    private let thread = WorkThread("backups", .background)
    private let stopSignal = StopSignal()
    /// When the last attempt began, and whether it failed; nil before the first.
    private let last = Mutex<(start: MonotonicTime, hasFailed: Bool)?>(nil)

    /// The longest time between two looks at the clock, which may be set.
    private static let tick = Duration.seconds(60)

    init(
        _ plan: BackupPlan, of backend: SQLiteBackend, _ metrics: BackupMetrics,
        clock: ServiceClock, logger: Logger
    ) {
        folder = plan.folder
        times = Mutex(plan.times)
        self.backend = backend
        self.metrics = metrics
        self.clock = clock
        self.logger = logger
        if let newest = folder.times().last {
            metrics.note(newest, of: folder.path(of: newest))
        }
        look(after: .zero)
    }

    /// Applies other times, from the next look at the clock on.
    func apply(_ times: BackupTimes) { self.times.withLock { $0 = times } }

    /// Ends a backup that is being made, and returns when it has ended.
    func stop() {
        stopSignal.stop()
        thread.drain()
    }

    private func look(after delay: Duration) {
        thread.async(after: delay) { [weak self] in
            guard let self, !stopSignal.isStopped else { return }
            if timeLeft() == .zero { attempt() }
            look(after: min(timeLeft(), Self.tick))
        }
    }

    /// The time until the next backup is due.
    private func timeLeft() -> Duration {
        let interval = Duration.milliseconds(times.withLock { $0.interval }.milliseconds)
        if let last = last.withLock({ $0 }) {
            let wait = last.hasFailed ? min(interval, Self.tick) : interval
            return max(.zero, wait - last.start.duration(to: clock.now))
        }
        guard let newest = folder.times().last else { return .zero }
        let age = Duration.milliseconds(clock.milliseconds()) - .seconds(newest.seconds)
        return age < .zero ? .zero : max(.zero, interval - age)
    }

    private func attempt() {
        let start = clock.now
        var hasFailed = false
        do {
            try make(start)
        } catch {
            hasFailed = true
            folder.removePartial()
            if !stopSignal.isStopped {
                metrics.failed.increment()
                logger.error("no backup was made", metadata: ["reason": "\(error)"])
            }
        }
        last.withLock { $0 = (start, hasFailed) }
    }

    private func make(_ start: MonotonicTime) throws {
        let time = BackupTime(milliseconds: clock.milliseconds())
        let path = folder.path(of: time)
        folder.removePartial()
        try backend.copy(to: folder.partial, until: stopSignal)
        let report = try StoreCheck.runWithoutIndex(path: folder.partial, until: stopSignal)
        guard !stopSignal.isStopped else { throw CommandFailure("the service stops") }
        guard report.problems.isEmpty else {
            throw CommandFailure(report.problems.joined(separator: "; "))
        }
        try Files.publish(folder.partial, as: path)
        folder.removePartial()
        metrics.made.increment()
        metrics.note(time, of: path)
        logger.info(
            "backup made and verified",
            metadata: [
                "file": "\(path)", "objects": .stringConvertible(report.objects),
                "seconds": .stringConvertible(start.duration(to: clock.now) / .seconds(1)),
            ])
        for old in times.withLock({ $0.keeping }).outdated(folder.times(), at: time) {
            unlink(folder.path(of: old))
            logger.info("backup deleted", metadata: ["file": "\(folder.path(of: old))"])
        }
    }
}

/// The metrics of backups, which are there whether or not backups are made.
struct BackupMetrics: Sendable {
    let made = Counter(label: "geobucket_backups_total", dimensions: [("outcome", "made")])
    let failed = Counter(label: "geobucket_backups_total", dimensions: [("outcome", "failed")])
    private let newest = Meter(label: "geobucket_backup_timestamp_seconds")
    private let bytes = Meter(label: "geobucket_backup_bytes")

    init() {
        newest.set(0)
        bytes.set(0)
    }

    /// - Parameters:
    ///   - time: that of the newest backup.
    ///   - path: its file.
    func note(_ time: BackupTime, of path: String) {
        newest.set(time.seconds)
        var status = stat()
        if stat(path, &status) == 0 { bytes.set(Int(status.st_size)) }
    }
}
