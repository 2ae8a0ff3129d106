import BackendContract
import Logging
import Objects
import QueryServer
import ServiceDesk
import TestSupport
import WebServer

enum Servers {
    /// Serves a backend on a free port; returns when the service has stopped.
    static func serve(
        _ backend: some Backend, limits: Limits = Limits(), log: LogLines = LogLines(),
        _ body: @escaping @Sendable (_ port: Int) async throws -> Void
    ) async throws {
        let logger = log.logger
        try await run(backend, limits, logger, body) { service, workers, listening in
            let server = LineServer(
                service: service, host: "127.0.0.1", port: 0, drainTime: .milliseconds(50),
                workers: workers, logger: logger, ready: listening)
            try await server.run()
        }
    }

    /// Serves a backend over HTTP, also to Kii's clients, on a free port; returns when the service
    /// has stopped.
    static func serveWeb(
        _ backend: some Backend, limits: Limits = Limits(),
        _ body: @escaping @Sendable (_ port: Int) async throws -> Void
    ) async throws {
        var settings = WebPort.Settings(host: "127.0.0.1", port: 0, hosts: .loopback)
        settings.kii = KiiSettings(app: "myapp")
        let (logger, web) = (Logger(label: "test") { _ in LogLines() }, settings)
        try await run(backend, limits, logger, body) { service, workers, listening in
            let server = WebPort(
                service: service, workers: workers, settings: web, logger: logger,
                listening: listening)
            try await server.run()
        }
    }

    private static func run(
        _ backend: some Backend, _ limits: Limits, _ logger: Logger,
        _ body: @escaping @Sendable (_ port: Int) async throws -> Void,
        server:
            @escaping @Sendable (
                QueryService, Workers, @escaping @Sendable (String, Int) -> Void
            ) async throws -> Void
    ) async throws {
        let service = QueryService(backend: backend, limits: limits, logger: logger)
        let (ports, continuation) = AsyncStream<Int>.makeStream()
        try await Workers.with(limits) { workers in
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask {
                    try await server(service, workers) { _, port in continuation.yield(port) }
                }
                var iterator = ports.makeAsyncIterator()
                try await body(await iterator.next()!)
                group.cancelAll()
                try await group.waitForAll()
            }
        }
    }
}
