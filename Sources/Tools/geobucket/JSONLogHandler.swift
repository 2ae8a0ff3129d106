import Glibc
import JSONText
import Logging

/// Log lines as JSON objects on standard error, one a line:
/// `{"time":"2026-03-01T12:00:00.123Z","level":"info","logger":"geobucket","message":"…",…}`.
///
/// Metadata are further members, as strings.
struct JSONLogHandler: LogHandler {
    let label: String
    var logLevel = Logger.Level.info
    var metadata: Logger.Metadata = [:]
    var metadataProvider: Logger.MetadataProvider?

    private static let own: Set<String> = ["time", "level", "logger", "message"]

    init(label: String, metadataProvider: Logger.MetadataProvider? = nil) {
        self.label = label
        self.metadataProvider = metadataProvider
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        var all = metadata
        if let provided = metadataProvider?.get() { all.merge(provided) { $1 } }
        if let given = event.metadata { all.merge(given) { $1 } }
        var writer = JSONWriter()
        writer.raw("{\"time\":")
        writer.string(Self.now)
        writer.key("level")
        writer.string(event.level.rawValue)
        writer.key("logger")
        writer.string(label)
        writer.key("message")
        writer.string("\(event.message)")
        for (key, value) in all.sorted(by: { $0.key < $1.key }) {
            writer.byte(UInt8(ascii: ","))
            writer.string(Self.own.contains(key) ? "_" + key : key)
            writer.byte(UInt8(ascii: ":"))
            writer.string("\(value)")
        }
        writer.raw("}\n")
        Console.status(String(decoding: writer.bytes, as: UTF8.self))
    }

    /// The time in UTC, RFC 3339 with milliseconds.
    private static var now: String {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        var parts = tm()
        gmtime_r(&time.tv_sec, &parts)
        var text = [CChar](repeating: 0, count: 32)
        strftime(&text, text.count, "%Y-%m-%dT%H:%M:%S", &parts)
        let seconds = String(
            decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
        let milliseconds = String(1_000 + time.tv_nsec / 1_000_000).dropFirst()
        return "\(seconds).\(milliseconds)Z"
    }
}
