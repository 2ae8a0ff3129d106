import CoreMetrics
import HTTPGateway
import Logging
import Objects
import Operations
import ServiceLifecycle
import Synchronization

/// Health and metrics over HTTP, from before the store is open until the service has stopped.
final class Gateway: Sendable {
    let health = Health()
    private let registry = PrometheusRegistry()
    private let observed = Mutex<Operations.Service?>(nil)

    /// Starts recording metrics. Create it once, before anything that records them.
    init() { MetricsSystem.bootstrap(registry) }

    /// Adds the gauges of a service.
    func observe(_ service: Operations.Service) { observed.withLock { $0 = service } }

    /// Runs `body` while the gateway listens on an address.
    func serving(
        at address: Address, _ limits: Limits, _ logger: Logger, _ body: () async throws -> Void
    ) async throws {
        let (bound, report) = AsyncStream<Address>.makeStream()
        let gateway = HTTPGateway(
            host: address.host, port: address.port, health: health,
            metrics: { [self] in
                observed.withLock { $0 }?.setGauges()
                return registry.text()
            }, limits: limits,
            listening: { host, port in report.yield(Address(host: host, port: port)) })
        let group = ServiceGroup(services: [gateway], logger: logger)
        async let running: Void = {
            defer { report.finish() }
            try await group.run()
        }()
        guard let address = await bound.first(where: { _ in true }) else {
            do {
                try await running
            } catch {
                throw CommandFailure("cannot serve HTTP on \(address): \(reason(of: error))")
            }
            throw CommandFailure("cannot serve HTTP on \(address)")
        }
        try Console.write("geobucket http on \(address)\n")
        do {
            try await body()
        } catch {
            await group.triggerGracefulShutdown()
            throw error
        }
        await group.triggerGracefulShutdown()
        try await running
    }
}
