import Backend
import Logging
import Objects
import Operations
import QueryServer
import TestSupport

enum Servers {
    /// Serves a backend on a free port; returns when the service has stopped.
    static func serve(
        _ backend: some Backend, limits: Limits = Limits(), log: LogLines = LogLines(),
        _ body: @escaping @Sendable (_ port: Int) async throws -> Void
    ) async throws {
        let service = Operations.Service(
            backend: backend, limits: limits, logger: Logger(label: "test") { _ in log })
        let (ports, continuation) = AsyncStream<Int>.makeStream()
        try await Workers.with(limits) { workers in
            let server = LineServer(
                service: service, host: "127.0.0.1", port: 0, drainTime: .milliseconds(50),
                workers: workers, logger: Logger(label: "test") { _ in log }
            ) { _, port in continuation.yield(port) }
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await server.run() }
                var iterator = ports.makeAsyncIterator()
                try await body(await iterator.next()!)
                group.cancelAll()
                try await group.waitForAll()
            }
        }
    }
}
