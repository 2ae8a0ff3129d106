import JSONText
import Objects
import TestSupport
import Testing

@testable import QueryLanguage

/// Times beside texts, against the times that the texts spell.
@Suite struct TimeTextTests {
    private static func truth(_ filter: String, _ value: String) throws -> Truth {
        let clause = try CQL2Filter.clause(filter, Limits())
        return try JSONParser.reading(Array(#"{"t":\#(value)}"#.utf8)) { clause.evaluate(on: $0) }
    }

    /// Spellings of times around the turn of a day, from coarse to fine.
    private static let texts: [String] = {
        let days = ["2025-12-31", "2026-01-01"]
        let clocks = ["00:00:00", "00:00:01", "23:59:59"]
        let fractions = ["", ".0", ".000", ".001", ".01", ".1", ".12", ".123", ".999"]
        return days
            + days.flatMap { day in
                clocks.flatMap { clock in fractions.map { "\(day)T\(clock)\($0)Z" } }
            }
    }()

    @Test func `A time is compared with the time that a text spells`() throws {
        for text in Self.texts {
            for limit in Self.texts {
                let isDate = limit.utf8.count == 10
                let literal = isDate ? "DATE('\(limit)')" : "TIMESTAMP('\(limit)')"
                // The day of a text is its first millisecond, that of a limit is whole.
                let time = try #require(TimeSpan(text)).first
                let span = try #require(TimeSpan(limit))
                for (symbol, expected) in [
                    ("=", span.first <= time && time <= span.last),
                    ("<>", time < span.first || span.last < time), ("<", time < span.first),
                    ("<=", time <= span.last), (">", time > span.last), (">=", time >= span.first),
                ] {
                    #expect(
                        try Self.truth("t \(symbol) \(literal)", "\"\(text)\"")
                            == Truth(expected), "\(text) \(symbol) \(limit)")
                }
            }
        }
    }

    @Test(arguments: [
        ("t BETWEEN DATE('2026-01-01') AND DATE('2026-01-02')", Truth.yes),
        ("t BETWEEN TIMESTAMP('2026-01-02T00:00:00.1Z') AND DATE('2026-01-03')", .no),
        ("t IN (DATE('2026-01-01'), DATE('2026-01-02'))", .yes),
        ("t IN ('x', DATE('2026-01-03'))", .no), ("DATE('2026-01-01') < t", .yes),
        ("t = TIMESTAMP('2026-01-02T09:00:00+09:00')", .yes),
        ("t <= TIMESTAMP('9999-12-31T23:59:59.999Z')", .yes),
        ("t > DATE('9999-12-31')", .no), ("t > TIMESTAMP('2026-01-01T23:59:59.9995Z')", .yes),
        ("t = TIMESTAMP('2026-01-01T23:59:59.9995Z')", .no),
    ])
    func `A text beside times`(_ filter: String, _ truth: Truth) throws {
        #expect(try Self.truth(filter, #""2026-01-02T00:00:00Z""#) == truth)
        #expect(try Self.truth(filter, "1767312000000") == .unknown)
        #expect(try Self.truth("NOT (\(filter))", "null") == .unknown)
    }
}
