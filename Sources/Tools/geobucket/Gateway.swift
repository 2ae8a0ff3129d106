import CoreMetrics
import HTTPGateway
import Logging
import Objects
import ServiceDesk
import Synchronization

/// Health and metrics over HTTP, from before the store is open until the service has stopped.
final class Gateway: Sendable {
    let health = Health()
    private let registry = PrometheusRegistry()
    private let observed = Mutex<QueryService?>(nil)

    /// Starts recording metrics. Create it once, before anything that records them.
    init() { MetricsSystem.bootstrap(registry) }

    /// Adds the gauges of a service.
    func observe(_ service: QueryService) { observed.withLock { $0 = service } }

    /// Runs `body` while the gateway listens on an address.
    func serving(
        at address: Address, _ limits: Limits, _ logger: Logger, _ body: () async throws -> Void
    ) async throws {
        try await geobucket.serving("http", at: address, logger) { listening in
            GatewayServer(
                host: address.host, port: address.port, health: health,
                metrics: { [self] in text() }, limits: limits, listening: listening)
        } _: {
            try await body()
        }
    }

    /// The text of `/metrics`.
    private func text() -> String {
        if let service = observed.withLock({ $0 }) {
            service.setGauges()
            let buckets = service.counters.requestsByBucket
            registry.replaceCounters(
                named: "geobucket_bucket_requests_total",
                by: buckets.map { ([("bucket", $0.bucket.text)], Double($0.requests)) })
            registry.replaceCounters(
                named: "geobucket_bucket_request_seconds_total",
                by: buckets.map { ([("bucket", $0.bucket.text)], $0.seconds) })
        }
        return registry.text()
    }
}
