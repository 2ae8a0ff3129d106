import Logging
import Objects
import Operations
import QueryServer
import TestSupport
import Testing

/// Work that nobody waits for any more is ended.
@Suite(.timeLimit(.minutes(1))) struct StoppedReadTests {
    private static let ping = #"{"jsonrpc":"2.0","id":1,"method":"server.ping"}"# + "\n"
    private static let count =
        #"{"jsonrpc":"2.0","id":2,"method":"bucket.count","params":{"bucket":"shops"}}"# + "\n"

    /// Serves an endless backend; returns when the service has stopped.
    private static func serve(
        _ backend: EndlessBackend, _ body: @escaping @Sendable (_ port: Int) async throws -> Void
    ) async throws {
        let service = Operations.Service(
            backend: backend, limits: Limits(), methodNames: LineServer.methodNames)
        let (ports, continuation) = AsyncStream<Int>.makeStream()
        let server = LineServer(
            service: service, host: "127.0.0.1", port: 0, drainTime: .milliseconds(50),
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        ) { _, port in continuation.yield(port) }
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await server.run() }
            var iterator = ports.makeAsyncIterator()
            try await body(await iterator.next()!)
            group.cancelAll()
            try await group.waitForAll()
        }
    }

    private static func wait(until condition: () -> Bool) async throws {
        while !condition() { try await Task.sleep(for: .milliseconds(1)) }
    }

    @Test func `a client that resets its connection ends its costly read`() async throws {
        let backend = EndlessBackend()
        try await Self.serve(backend) { port in
            try RawConnection.with(port: port) { raw in
                try raw.send(Self.ping + Self.count)
                // The pong is left unread: so closing resets the connection.
                while raw.isSilent(milliseconds: 10) {}
                while backend.running.load(ordering: .relaxed) == 0 {}
            }
            try await Self.wait { backend.stopped.load(ordering: .relaxed) == 1 }
        }
    }

    @Test func `a service that stops ends the costly reads its drain time did not see end`()
        async throws
    {
        let backend = EndlessBackend()
        try await Self.serve(backend) { port in
            Task.detached {
                try RawConnection.with(port: port) { raw in
                    try raw.send(Self.count)
                    #expect(try raw.line() == nil)  // until the service closes
                }
            }
            try await Self.wait { backend.running.load(ordering: .relaxed) == 1 }
        }
        #expect(backend.stopped.load(ordering: .relaxed) == 1)
    }
}
