import Dispatch
import Glibc
import Logging
import ServiceLifecycle
import Synchronization

/// What SIGTERM and SIGINT do to `serve`, from the beginning to the end.
///
/// Before there are services, they end the process at once with status 0: nothing has been
/// answered, and the store survives an end at any moment. From then on they stop the services
/// gracefully.
///
/// `@unchecked Sendable`: the sources never change.
final class Stopping: @unchecked Sendable {
    private let services = Mutex<ServiceGroup?>(nil)
    private var sources: [any DispatchSourceSignal] = []
    private static let signals = [SIGTERM, SIGINT]

    /// Lets the signals end the process with status 0 until there is a `Stopping`. Its queue takes
    /// their place soon after it is made.
    static func begin() {
        for number in signals { signal(number) { _ in _exit(0) } }
        // A hangup has certificates read again, which have just been read.
        signal(SIGHUP, SIG_IGN)
    }

    /// The signals are caught on a queue of their own, since the opening of a store may hold the
    /// threads on which tasks run.
    init(logger: Logger) {
        let queue = DispatchQueue(label: "signals")
        for number in Self.signals {
            let source = DispatchSource.makeSignalSource(signal: number, queue: queue)
            // It keeps this object until the process ends.
            source.setEventHandler { self.stop(logger) }
            source.resume()
            sources.append(source)
        }
    }

    /// Hands the signals to services, which need not run yet.
    func take(_ group: ServiceGroup) { services.withLock { $0 = group } }

    private func stop(_ logger: Logger) {
        ServiceManager.tell("STOPPING=1")
        guard let group = services.withLock({ $0 }) else {
            logger.info("stopped before it was ready")
            _exit(0)
        }
        Task { await group.triggerGracefulShutdown() }
    }
}
