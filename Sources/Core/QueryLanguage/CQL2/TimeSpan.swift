import PlainJSON

/// The whole milliseconds since 1970 that a time stands for: one for an instant, a day's for a date.
///
///     TimeSpan("2026-01-31")!.last - TimeSpan("2026-01-31")!.first     // 86_399_999
///
/// An instant between two milliseconds has no millisecond of its own: `first` is the one after it,
/// `last` the one before. So "from `first` on" and "to `last`" are right for it too.
///
/// - Reference: RFC 3339, sections 5.6 and 5.7; a leap second is the one that follows it.
public struct TimeSpan: Sendable, Hashable {
    /// The first millisecond that is not before the time.
    public let first: Int64
    /// The last millisecond that is not after the time.
    public let last: Int64

    /// A date or a date with a time of day; nil for any other text.
    public init?(_ text: String) {
        guard let time = TimeSpan(date: text) ?? TimeSpan(timestamp: text) else { return nil }
        self = time
    }

    /// A date, which is a day in UTC.
    public init?(date text: String) {
        var reader = TimeReader(text)
        guard let day = reader.day(), reader.isAtEnd else { return nil }
        first = day * 86_400_000
        last = first + 86_399_999
    }

    /// A date and a time of day with an offset from UTC, such as `2026-01-31T12:00:00.5Z`.
    public init?(timestamp text: String) {
        var reader = TimeReader(text)
        guard let day = reader.day(), reader.take("Tt"), let time = reader.timeOfDay(),
            let offset = reader.offset(), reader.isAtEnd
        else { return nil }
        last = day * 86_400_000 + time.milliseconds - offset * 60_000
        first = last + (time.isExact ? 0 : 1)
    }

    /// All its milliseconds, as limits of `range`.
    public var range: LiteralRange {
        .numbers(lower: .init(.integer(first)), upper: .init(.integer(last)))
    }

    /// A millisecond since 1970 as an RFC 3339 text in UTC.
    public static func text(ofMillisecond time: Int64) -> String {
        let (days, rest) = (floored(time, 86_400_000), remainder(time, 86_400_000))
        let (year, month, day) = civil(days)
        func digits(_ value: Int64, _ count: Int) -> String {
            let text = String(value)
            return String(repeating: "0", count: max(0, count - text.utf8.count)) + text
        }
        let clock = [rest / 3_600_000, rest / 60_000 % 60, rest / 1_000 % 60].map { digits($0, 2) }
        return "\(digits(year, 4))-\(digits(month, 2))-\(digits(day, 2))T"
            + clock.joined(separator: ":") + ".\(digits(rest % 1_000, 3))Z"
    }

    // MARK: Calendar

    /// The days from 1970-01-01 to a day of the Gregorian calendar.
    ///
    /// Years begin in March here, so that a leap day is the last of its year.
    static func days(year: Int64, month: Int64, day: Int64) -> Int64 {
        let shifted = month <= 2 ? year - 1 : year
        let era = floored(shifted, 400)
        let yearOfEra = shifted - era * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
            - 719_468
    }

    private static func civil(_ days: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let shifted = days + 719_468
        let era = floored(shifted, 146_097)
        let dayOfEra = shifted - era * 146_097
        let yearOfEra =
            (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let march = (5 * dayOfYear + 2) / 153
        let month = march < 10 ? march + 3 : march - 9
        let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        return (year, month, dayOfYear - (153 * march + 2) / 5 + 1)
    }

    private static func floored(_ a: Int64, _ b: Int64) -> Int64 {
        a >= 0 ? a / b : -((b - 1 - a) / b)
    }

    private static func remainder(_ a: Int64, _ b: Int64) -> Int64 { a - floored(a, b) * b }
}

/// Reads the parts of a time one after the other.
private struct TimeReader {
    private var rest: Substring.UTF8View

    init(_ text: String) { rest = text[...].utf8 }

    var isAtEnd: Bool { rest.isEmpty }

    /// Any one of some characters.
    mutating func take(_ characters: StaticString) -> Bool {
        guard let first = rest.first, "\(characters)".utf8.contains(first) else { return false }
        rest = rest.dropFirst()
        return true
    }

    /// So many digits, and a value within bounds.
    private mutating func number(_ count: Int, _ bounds: ClosedRange<Int64>) -> Int64? {
        let digits = rest.prefix(count)
        guard digits.count == count, digits.allSatisfy({ (48...57).contains($0) }) else {
            return nil
        }
        let value = digits.reduce(Int64(0)) { $0 * 10 + Int64($1) - 48 }
        guard bounds.contains(value) else { return nil }
        rest = rest.dropFirst(count)
        return value
    }

    /// The days since 1970 of `2026-01-31`.
    mutating func day() -> Int64? {
        guard let year = number(4, 0...9_999), take("-"), let month = number(2, 1...12), take("-"),
            let day = number(2, 1...31)
        else { return nil }
        let start = TimeSpan.days(year: year, month: month, day: 1)
        let next =
            month == 12
            ? TimeSpan.days(year: year + 1, month: 1, day: 1)
            : TimeSpan.days(year: year, month: month + 1, day: 1)
        return day <= next - start ? start + day - 1 : nil
    }

    /// `12:00:00.5`; the milliseconds are rounded down.
    mutating func timeOfDay() -> (milliseconds: Int64, isExact: Bool)? {
        guard let hour = number(2, 0...23), take(":"), let minute = number(2, 0...59), take(":"),
            let second = number(2, 0...60)
        else { return nil }
        var milliseconds = ((hour * 60 + minute) * 60 + second) * 1_000
        guard take(".") else { return (milliseconds, true) }
        let digits = Array(rest.prefix { (48...57).contains($0) })
        guard !digits.isEmpty else { return nil }
        rest = rest.dropFirst(digits.count)
        for (digit, weight) in zip(digits, [100, 10, 1]) {
            milliseconds += (Int64(digit) - 48) * Int64(weight)
        }
        return (milliseconds, digits.dropFirst(3).allSatisfy { $0 == 48 })
    }

    /// Minutes east of UTC: `Z`, `+09:00`.
    mutating func offset() -> Int64? {
        if take("Zz") { return 0 }
        let isWest = rest.first == UInt8(ascii: "-")
        guard take("+-"), let hours = number(2, 0...23), take(":"), let minutes = number(2, 0...59)
        else { return nil }
        return (hours * 60 + minutes) * (isWest ? -1 : 1)
    }
}
