import Objects
import PlainJSON

/// Times beside fields that hold them as text, as RFC 3339 spells them in UTC: `2026-01-31`,
/// `2026-01-31T12:00:00Z`, `2026-01-31T12:00:00.5Z`.
///
/// Such texts are in the order of their times, but for one thing: "Z" comes behind digits and the
/// point, so `12:00:00Z` is behind `12:00:00.5Z`.
enum TimeText {
    /// The texts of times at or after a millisecond since 1970; unknown where there is no text.
    static func clause(_ field: FieldPath, from millisecond: Int64) -> Clause {
        let lower = Clause.range(
            field, .strings(lower: .init(Array(stem(of: millisecond).utf8)), upper: nil))
        let early = earlyTexts(behind: millisecond)
        guard !early.isEmpty else { return lower }
        return .and([lower, .not(.isIn(field, early.map { .string($0) }))])
    }

    /// The texts of times between two.
    static func clause(_ field: FieldPath, from first: TimeSpan, to last: TimeSpan) -> Clause {
        .and([
            clause(field, from: first.first), .not(clause(field, from: last.last + 1)),
        ])
    }

    /// The shortest text that no later time's text comes before.
    private static func stem(of millisecond: Int64) -> String {
        // Behind every year of four digits.
        guard millisecond <= TimeSpan("9999-12-31")!.last else { return ":" }
        var text = TimeSpan.text(ofMillisecond: millisecond).dropLast()
        guard text.hasSuffix(".000") else {
            while text.hasSuffix("0") { text.removeLast() }
            return String(text)
        }
        text.removeLast(4)
        if text.hasSuffix("T00:00:00") { text.removeLast(9) }
        return String(text)
    }

    /// The texts of earlier times that come behind the stem: those that end in the middle of it.
    private static func earlyTexts(behind millisecond: Int64) -> [String] {
        let parts = stem(of: millisecond).split(separator: ".")
        guard parts.count == 2 else { return [] }
        return parts[1].indices.map { end in
            let digits = parts[1][..<end]
            return parts[0] + (digits.isEmpty ? "" : ".") + digits + "Z"
        }
    }
}
