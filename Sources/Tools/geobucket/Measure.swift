import ArgumentParser
import Objects

/// What a whole number measures, and so in which units people may give it.
///
///     Measure.bytes.value(of: "64KiB")             // 65536
///     Measure.milliseconds.value(of: "30s")        // 30000
enum Measure: Sendable {
    case count, bytes, milliseconds, seconds

    /// The measure of a setting.
    init(setting name: String) {
        switch LimitSetting.all.first(where: { $0.name == name })?.unit {
        case .bytes: self = .bytes
        case .milliseconds: self = .milliseconds
        case nil where name.hasSuffix("Seconds"): self = .seconds
        default: self = .count
        }
    }

    private static let sizes = [
        ("kb", 1_000), ("mb", 1_000_000), ("gb", 1_000_000_000),
        ("kib", 1 << 10), ("mib", 1 << 20), ("gib", 1 << 30),
    ]

    private static let times = [
        ("ms", 1), ("s", 1_000), ("m", 60_000), ("h", 3_600_000), ("d", 86_400_000),
    ]

    /// The number that a text gives, with a unit or without; nil for anything else, and for a time
    /// that is no whole number of seconds where those count.
    func value(of text: String) -> Int? {
        if let value = Int(text) { return value }
        switch self {
        case .count: return nil
        case .bytes: return Self.product(text, Self.sizes)
        case .milliseconds: return Self.product(text, Self.times)
        case .seconds:
            guard let milliseconds = Self.product(text, Self.times) else { return nil }
            let (seconds, rest) = milliseconds.quotientAndRemainder(dividingBy: 1_000)
            return rest == 0 ? seconds : nil
        }
    }

    /// The number of a flag.
    ///
    /// - Throws: `ValidationError` with what was expected.
    @Sendable func argument(_ text: String) throws -> Int {
        guard let value = value(of: text) else { throw ValidationError("expected \(expected)") }
        return value
    }

    /// The seconds of a flag, with their parts.
    ///
    /// - Throws: `ValidationError` with what was expected.
    @Sendable static func secondsArgument(_ text: String) throws -> Double {
        if let seconds = Double(text), seconds.isFinite { return seconds }
        guard let value = milliseconds.value(of: text) else {
            throw ValidationError("expected a number of seconds, or one with ms, s, m, h or d")
        }
        return Double(value) / 1_000
    }

    /// What a value has to be, in words.
    var expected: String {
        switch self {
        case .count: "a whole number"
        case .bytes: "a whole number of bytes, or one with KB, MB, GB, KiB, MiB or GiB"
        case .milliseconds: "a whole number of milliseconds, or one with ms, s, m, h or d"
        case .seconds: "a whole number of seconds, or one with s, m, h or d"
        }
    }

    /// What stands for a value in help.
    var valueName: String {
        switch self {
        case .count: "n"
        case .bytes: "size"
        case .milliseconds, .seconds: "time"
        }
    }

    private static func product(_ text: String, _ units: [(name: String, factor: Int)]) -> Int? {
        let unit = text.drop { $0.isASCII && $0.isNumber }.lowercased()
        guard let count = Int(text.dropLast(unit.count)),
            let factor = units.first(where: { $0.name == unit })?.factor
        else { return nil }
        let (product, isTooLarge) = count.multipliedReportingOverflow(by: factor)
        return isTooLarge ? nil : product
    }
}
