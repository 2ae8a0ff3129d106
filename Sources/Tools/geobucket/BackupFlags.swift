import ArgumentParser
import PostgresBackend

/// The flags of `serve` for backups that it makes by itself.
struct BackupFlags: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "A folder for backups, which the service makes from time to time: STORE-20261128T093000Z.sqlite.",
            valueName: "folder"))
    var backupTo: String?

    @Option(
        help: ArgumentHelp(
            "With --backup-to: how often, such as 30m, 6h or 1d. (default: \(Self.standardInterval))",
            valueName: "time"))
    var backupEvery: String?

    @Option(
        help: ArgumentHelp(
            "With --backup-to: which are kept; 24h:1h,7d:1d is one an hour for a day and one a day for a week; or all. (default: \(BackupKeeping.standard))",
            valueName: "times"))
    var backupKeep: String?

    static let standardInterval = "6h"

    /// What is to be done; nil without a folder.
    ///
    /// - Parameter store: the setting of the store.
    func plan(_ settings: Settings, store: String) throws -> BackupPlan? {
        guard let folder = try settings.path("backupTo", flag: backupTo) else {
            for (name, flag) in [("backupEvery", backupEvery), ("backupKeep", backupKeep)]
            where settings.string(name, flag: flag) != nil {
                throw ValidationError("\(name) needs --backup-to")
            }
            return nil
        }
        guard !PostgresAddress.isAddress(store) else {
            throw ValidationError(
                "--backup-to copies a store in a file; for one in PostgreSQL make backups of PostgreSQL"
            )
        }
        return BackupPlan(
            folder: try BackupFolder(path: folder, store: store), times: try times(settings))
    }

    /// How often backups are made, and which are kept.
    func times(_ settings: Settings) throws -> BackupTimes {
        let every = settings.string("backupEvery", flag: backupEvery)
        let keep = settings.string("backupKeep", flag: backupKeep)
        guard let interval = TimeLength(argument: every ?? Self.standardInterval),
            interval.milliseconds >= 1_000
        else {
            let source = settings.source(of: "backupEvery", flag: backupEvery)
            throw ValidationError(
                "\(source): \"\(every ?? "")\" is no time of a second or more, such as 30m, 6h or 1d"
            )
        }
        guard let keeping = BackupKeeping(keep ?? BackupKeeping.standard) else {
            let source = settings.source(of: "backupKeep", flag: backupKeep)
            throw ValidationError(
                "\(source): \"\(keep ?? "")\" is neither all nor SPAN:STEP, such as 24h:1h,7d:1d, "
                    + "with a step of a second to the span")
        }
        return BackupTimes(interval: interval, keeping: keeping)
    }
}

/// Where and how often a service makes backups of its store, and which it keeps.
struct BackupPlan {
    let folder: BackupFolder
    let times: BackupTimes
}

/// How often backups are made, and which are kept.
struct BackupTimes {
    let interval: TimeLength
    let keeping: BackupKeeping
}
