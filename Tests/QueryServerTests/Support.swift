import Backend
import Logging
import Objects
import Operations
import QueryServer
import Synchronization

/// Serves a backend; returns when the service has stopped.
func serve(
    _ backend: any Backend, limits: Limits = Limits(), log: LogLines? = nil,
    _ body: @escaping @Sendable (_ port: Int) async throws -> Void
) async throws {
    let service = Operations.Service(
        backend: backend, limits: limits, methodNames: LineServer.methodNames)
    let (ports, continuation) = AsyncStream<Int>.makeStream()
    let server = LineServer(
        service: service, host: "127.0.0.1", port: 0, drainTime: .milliseconds(50),
        logger: Logger(label: "test") { _ in log ?? LogLines() }
    ) { _, port in continuation.yield(port) }
    try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask { try await server.run() }
        var iterator = ports.makeAsyncIterator()
        try await body(await iterator.next()!)
        group.cancelAll()
        try await group.waitForAll()
    }
}

/// Returns when a condition holds; throws when the test has run out of time.
func wait(until condition: () -> Bool) async throws {
    while !condition() { try await Task.sleep(for: .milliseconds(1)) }
}

/// Keeps what is logged.
struct LogLines: LogHandler {
    private final class Lines: Sendable {
        let all = Mutex<[String]>([])
    }

    private let lines = Lines()
    var metadata: Logger.Metadata = [:]
    var logLevel = Logger.Level.trace

    var all: [String] { lines.all.withLock { $0 } }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        lines.all.withLock { $0.append("\(event.message) \(event.metadata ?? [:])") }
    }
}

/// A text that one task leaves for another.
final class TestOutcome: Sendable {
    private let value = Mutex("")

    var text: String { value.withLock { $0 } }

    func set(_ text: String) { value.withLock { $0 = text } }
}
