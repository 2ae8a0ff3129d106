import ArgumentParser
import Logging
import Objects
import Runtime
import ServiceDesk
import Synchronization

/// Reads the configuration file of a running service again, applies what may change while it runs, and
/// says what may not.
///
/// Flags and variables of the environment go before the file, as at the start. A file that is refused
/// changes nothing.
final class Reconfiguration: Sendable {
    /// How the flags of `serve` and a file make the settings that may change.
    struct Reader: Sendable {
        /// The names that are given as flags.
        let given: Set<String>
        let level: @Sendable (Settings) throws -> Logger.Level
        let limits: @Sendable (Settings) throws -> Limits
        let notesReads: @Sendable (Settings) throws -> Bool
        let quotas: @Sendable (Settings) throws -> [String: Quota]
        let backupTimes: @Sendable (Settings) throws -> BackupTimes
    }

    private struct State {
        var settings: Settings
        var limits: Limits
        var service: QueryService?
        var backups: ScheduledBackups?
    }

    private let state: Mutex<State>
    private let reader: Reader
    private let threshold: LogThreshold
    private let audit: AuditLog?
    private let logger: Logger

    /// Names of settings that are no limits and may change while the service runs.
    private static let live: Set<String> = [
        "logLevel", "auditReads", "backupEvery", "backupKeep", "quota",
    ]

    /// - Parameters:
    ///   - settings: those of the start.
    ///   - threshold: the level of the log.
    init(
        _ settings: Settings, _ limits: Limits, _ reader: Reader, threshold: LogThreshold,
        audit: AuditLog?, logger: Logger
    ) {
        state = Mutex(State(settings: settings, limits: limits))
        self.reader = reader
        (self.threshold, self.audit, self.logger) = (threshold, audit, logger)
    }

    /// Applies later changes to a service.
    func observe(_ service: QueryService) { state.withLock { $0.service = service } }

    /// Applies later changes to backups.
    func observe(_ backups: ScheduledBackups?) { state.withLock { $0.backups = backups } }

    /// Reads the file again, if there is one. It may take as long as a file system takes.
    func reload() {
        guard let path = state.withLock({ $0.settings.filePath }) else { return }
        do {
            try apply(try waiting { try await Settings(file: path) })
        } catch let error as ValidationError {
            refuse(error.message)
        } catch {
            refuse("\(error)")
        }
    }

    private func refuse(_ reason: String) {
        logger.error(
            "the configuration file cannot be used; the settings stay",
            metadata: ["reason": "\(reason)"])
    }

    private func apply(_ settings: Settings) throws {
        let limits = try reader.limits(settings)
        let level = try reader.level(settings)
        let notesReads = try reader.notesReads(settings)
        let times = try reader.backupTimes(settings)
        let quotas = try reader.quotas(settings)
        let (before, service, backups) = state.withLock { state in
            defer { (state.settings, state.limits) = (settings, limits) }
            return (state, state.service, state.backups)
        }
        threshold.level = level
        audit?.notesReads = notesReads
        service?.apply(limits)
        service?.limits.quotas.replace(rules: quotas)
        backups?.apply(times)
        note(settings, limits, since: (before.settings, before.limits))
    }

    private func note(
        _ settings: Settings, _ limits: Limits, since before: (settings: Settings, limits: Limits)
    ) {
        let ofLimits = LimitSetting.all.filter {
            limits[keyPath: $0.path] != before.limits[keyPath: $0.path]
        }
        let names = Set(LimitSetting.all.map(\.name))
        let others = settings.differences(from: before.settings).subtracting(reader.given)
            .subtracting(names)
        let changed = others.union(ofLimits.map(\.name))
        let isLive = { Self.live.contains($0) || LiveLimits.names.contains($0) }
        var metadata: Logger.Metadata = ["applied": Self.list(changed.filter(isLive))]
        let waiting = changed.filter { !isLive($0) }
        guard !waiting.isEmpty else {
            return logger.notice("configuration read", metadata: metadata)
        }
        metadata["needRestart"] = Self.list(waiting)
        logger.warning(
            "configuration read; some of it takes effect with the next start only",
            metadata: metadata)
    }

    private static func list(_ names: Set<String>) -> Logger.MetadataValue {
        .array(names.sorted().map { .string($0) })
    }
}
