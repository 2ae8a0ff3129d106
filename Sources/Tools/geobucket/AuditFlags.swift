import ArgumentParser
import Logging
import Objects
import Runtime
import ServiceDesk

/// The flags of `serve` for the log of who does what.
struct AuditFlags: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "A file of JSON lines that tells who has written, deleted, logged in or been refused what. It is begun anew at --audit-bytes, and opened anew on SIGHUP.",
            valueName: "path"))
    var auditLog: String?

    @Flag(
        help: ArgumentHelp(
            "With --audit-log: note what only reads too.", visibility: .hidden))
    var auditReads = false

    /// The log, with its file open; nil without one.
    func log(
        _ settings: Settings, _ limits: Limits, _ clock: ServiceClock, _ logger: Logger
    ) throws -> AuditLog? {
        let notesReads = try settings.bool("auditReads", flag: auditReads)
        guard let path = try settings.path("auditLog", flag: auditLog) else {
            if notesReads { throw ValidationError("auditReads needs --audit-log") }
            return nil
        }
        do {
            return try AuditLog(
                path: path, notesReads: notesReads, limits, clock: clock, logger: logger)
        } catch {
            throw CommandFailure("the audit log \(path) cannot be opened: \(error)")
        }
    }
}
