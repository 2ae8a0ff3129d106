import Logging
import Synchronization

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
