import Glibc
import JSONText
import Logging
import Synchronization

/// The least level that is logged, which may change at any time.
final class LogThreshold: Sendable {
    private let index: Atomic<Int>

    init(_ level: Logger.Level) { index = Atomic(Self.index(of: level)) }

    var level: Logger.Level {
        get { Logger.Level.allCases[index.load(ordering: .relaxed)] }
        set { index.store(Self.index(of: newValue), ordering: .relaxed) }
    }

    private static func index(of level: Logger.Level) -> Int {
        Logger.Level.allCases.firstIndex(of: level)!
    }
}

/// The log on standard error, an entry a line, as text or as JSON objects:
///
///     2026-03-01T12:00:00.123Z info geobucket: stopping connections="12"
///     {"time":"2026-03-01T12:00:00.123Z","level":"info","logger":"geobucket","message":"stopping","connections":12}
///
/// In JSON what was given as a number is one, and what was given as a list is an array.
/// Clients choose some of what is logged, such as names of fields. Metadata are always quoted, and
/// what could end a line, or move a terminal's cursor, is escaped everywhere.
struct LineLogHandler: LogHandler {
    enum Format: String { case text, json }

    private let label: String
    private let format: Format
    private let threshold: LogThreshold
    var metadata: Logger.Metadata = [:]
    var metadataProvider: Logger.MetadataProvider?

    private static let own: Set<String> = ["time", "level", "logger", "message"]

    /// What somebody has set for this logger alone.
    private var ownLevel: Logger.Level?

    /// - Parameter threshold: the least level that is logged, shared by all loggers.
    init(label: String, format: Format, threshold: LogThreshold) {
        (self.label, self.format, self.threshold) = (label, format, threshold)
    }

    var logLevel: Logger.Level {
        get { ownLevel ?? threshold.level }
        set { ownLevel = newValue }
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        var all = metadata
        if let provided = metadataProvider?.get() { all.merge(provided) { $1 } }
        if let given = event.metadata { all.merge(given) { $1 } }
        let members = all.sorted { $0.key < $1.key }
        Console.status(
            format == .json
                ? Self.json(event.level, label, "\(event.message)", members)
                : Self.text(event.level, label, "\(event.message)", members))
    }

    private static func text(
        _ level: Logger.Level, _ label: String, _ message: String,
        _ members: [(key: String, value: Logger.MetadataValue)]
    ) -> String {
        var line = "\(now) \(level.rawValue) \(label): \(visible(message))"
        for (key, value) in members { line += " \(visible(key))=\(quoted("\(value)"))" }
        return line + "\n"
    }

    private static func json(
        _ level: Logger.Level, _ label: String, _ message: String,
        _ members: [(key: String, value: Logger.MetadataValue)]
    ) -> String {
        var line = "{\"time\":\(quoted(now)),\"level\":\(quoted(level.rawValue))"
        line += ",\"logger\":\(quoted(label)),\"message\":\(quoted(message))"
        for (key, value) in members {
            line += ",\(quoted(own.contains(key) ? "_" + key : key)):\(json(value))"
        }
        return line + "}\n"
    }

    private static func json(_ value: Logger.MetadataValue) -> String {
        switch value {
        case .string(let text): quoted(text)
        case .stringConvertible(let value): number(value) ?? quoted("\(value)")
        case .array(let values): "[\(values.map(json).joined(separator: ","))]"
        case .dictionary(let members):
            "{"
                + members.sorted { $0.key < $1.key }
                .map { "\(quoted($0.key)):\(json($0.value))" }.joined(separator: ",") + "}"
        }
    }

    /// The value as a number of JSON; nil if it is none.
    private static func number(_ value: any CustomStringConvertible) -> String? {
        switch value {
        case let number as any BinaryInteger: "\(number)"
        case let number as Double where number.isFinite: "\(number)"
        default: nil
        }
    }

    /// A JSON string in which every character is visible.
    private static func quoted(_ text: String) -> String {
        var writer = JSONWriter()
        writer.string(text)
        return visible(String(decoding: writer.bytes, as: UTF8.self))
    }

    /// The text, with JSON's escapes in place of controls, line separators and marks of direction.
    private static func visible(_ text: String) -> String {
        guard text.unicodeScalars.contains(where: isInvisible) else { return text }
        var visible = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            guard isInvisible(scalar) else {
                visible.append(scalar)
                continue
            }
            for unit in UTF16.encode(scalar)! {
                let digits = String(unit, radix: 16)
                visible +=
                    "\\u\(String(repeating: "0", count: 4 - digits.count))\(digits)"
                    .unicodeScalars
            }
        }
        return String(visible)
    }

    private static func isInvisible(_ scalar: Unicode.Scalar) -> Bool {
        if scalar.isASCII { return scalar.value < 0x20 || scalar.value == 0x7F }
        return switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .unassigned: true
        default: false
        }
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
