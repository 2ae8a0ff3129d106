import HTTPGateway
import Logging
import Operations
import TestSupport
import Testing

@Suite struct GatewayTests {
    @Test("alive at once, ready only while requests are served, metrics as they are now")
    func routes() async throws {
        let health = Health()
        let (ports, report) = AsyncStream<Int>.makeStream()
        let gateway = HTTPGateway(
            host: "127.0.0.1", port: 0, health: health, metrics: { "geobucket_objects 3\n" },
            logger: Logger(label: "test"), listening: { _, port in report.yield(port) })
        let running = Task { try await gateway.run() }
        let port = try #require(await ports.first { _ in true })
        func get(_ path: String) throws -> HTTPGet { try HTTPGet(port: port, path: path) }

        #expect(try get("/healthz").status == 200)
        #expect(try get("/readyz").status == 503)
        #expect(try get("/readyz").body == "starting\n")
        health.state = .ready
        #expect(try get("/readyz").status == 200)
        let metrics = try get("/metrics")
        #expect(metrics.body == "geobucket_objects 3\n")
        #expect(metrics.head.contains("text/plain; version=0.0.4"))
        health.state = .draining
        #expect(try get("/readyz").status == 503)
        #expect(try get("/healthz").status == 200)
        #expect(try get("/other").status == 404)
        running.cancel()
        _ = await running.result
    }
}
