import Logging
import QueryServer
import Runtime
import ServiceLifecycle
import UnixSignals

/// Reloads files of a running service: tokens and signing keys when their files change,
/// certificates at SIGHUP.
struct Reloading: ServiceLifecycle.Service {
    let access: WatchedAccess?
    let tls: TLSIdentity?
    let logger: Logger

    private static let interval = Duration.milliseconds(200)
    /// Reads certificates, one at a time; a stop does not wait for it.
    private static let thread = WorkThread("certificates")

    func run() async throws {
        await cancelWhenGracefulShutdown {
            await withTaskGroup { group in
                group.addTask { await watchAccess() }
                group.addTask { await reloadAtHangup() }
            }
        }
    }

    private func watchAccess() async {
        guard let access else { return }
        while (try? await Task.sleep(for: Self.interval)) != nil { access.renew() }
    }

    /// Runs without TLS too, because SIGHUP must not end the service.
    private func reloadAtHangup() async {
        for await _ in await UnixSignalsSequence(trapping: .sighup) {
            guard let tls else { continue }
            Self.thread.async { reload(tls) }
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
