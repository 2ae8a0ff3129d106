import Logging
import QueryServer
import Runtime
import ServiceDesk
import ServiceLifecycle
import UnixSignals

/// Reloads files of a running service: tokens and signing keys when their files change, certificates
/// and the configuration file at SIGHUP. Then the audit log is opened anew, too.
struct Reloading: ServiceLifecycle.Service {
    let access: WatchedAccess?
    let tls: TLSIdentity?
    let audit: AuditLog?
    let configuration: Reconfiguration
    let clock: ServiceClock
    let logger: Logger

    /// The time after which a change is noticed of which the system does not tell.
    private static let interval = Duration.milliseconds(900)
    /// The time between a change and the look at the files: who makes a file writes it then.
    private static let pace = Duration.milliseconds(20)
    /// Looks for changes; a stop does not wait for a file system that does not respond.
    private static let watching = WorkThread("files")
    /// Reads certificates and the configuration, one at a time; a stop does not wait for it.
    private static let thread = WorkThread("reloading")

    func run() async throws {
        let interrupt = Interrupt()
        if let access { Self.watching.async { watch(access, unless: interrupt) } }
        await cancelWhenGracefulShutdown { await reloadAtHangup() }
        interrupt.raise()
    }

    private func watch(_ access: WatchedAccess, unless interrupt: Interrupt) {
        var areTold = true
        while !interrupt.isRaised {
            // Each time anew, because folders may be replaced, and links lead elsewhere.
            let changes = FolderChanges(in: access.folders)
            if areTold, !changes.areTold {
                logger.notice(
                    "the system does not tell of changes of files; the service looks for them",
                    metadata: ["every": "\(Self.interval)"])
            }
            areTold = changes.areTold
            access.renew()
            changes.wait(until: clock.deadline(after: Self.interval), unless: interrupt)
            pause(Self.pace)
        }
    }

    /// Runs without anything to do too, because SIGHUP must not end the service.
    private func reloadAtHangup() async {
        for await _ in await UnixSignalsSequence(trapping: .sighup) {
            audit?.reopen()
            Self.thread.async {
                configuration.reload()
                if let tls { reload(tls) }
            }
        }
    }

    private func reload(_ tls: TLSIdentity) {
        do {
            try tls.reload()
            logger.notice("certificates read")
        } catch {
            logger.error(
                "the certificates cannot be read; those in use stay",
                metadata: ["reason": "\(error)"])
        }
    }
}
