import Logging
import Synchronization

/// Keeps what is logged.
public struct LogLines: LogHandler {
    private final class Lines: Sendable {
        let all = Mutex<[(level: Logger.Level, text: String)]>([])
    }

    private let lines = Lines()
    public var metadata: Logger.Metadata = [:]
    public var logLevel = Logger.Level.trace

    public init() {}

    /// Logs to this.
    public var logger: Logger { Logger(label: "test") { _ in self } }

    public var all: [String] { lines.all.withLock { $0.map(\.text) } }

    /// What is at least so grave.
    public func all(from level: Logger.Level) -> [String] {
        lines.all.withLock { $0.filter { $0.level >= level }.map(\.text) }
    }

    public subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    public func log(event: LogEvent) {
        let text = "\(event.message) \(event.metadata ?? [:])"
        lines.all.withLock { $0.append((event.level, text)) }
    }
}
