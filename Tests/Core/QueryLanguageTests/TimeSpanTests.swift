import Testing

@testable import QueryLanguage

/// Times as filters and parameters spell them.
@Suite struct TimeSpanTests {
    @Test(arguments: [
        ("1970-01-01T00:00:00Z", 0), ("1970-01-01T00:00:00.001Z", 1),
        ("1969-12-31T23:59:59.5Z", -500),
        ("2000-02-29T12:00:00+09:00", 951_793_200_000), ("2026-11-24t10:00:00z", 1_795_514_400_000),
        ("0000-01-01T00:00:00Z", -62_167_219_200_000),
        ("9999-12-31T23:59:59.999Z", 253_402_300_799_999),
        ("2016-12-31T23:59:60Z", 1_483_228_800_000),
        ("1970-01-01T00:00:00-00:30", 1_800_000),
    ])
    func `An instant is one millisecond`(_ text: String, _ millisecond: Int64) throws {
        let span = try #require(TimeSpan(text))
        #expect(span.first == millisecond && span.last == millisecond)
    }

    @Test func `An instant between two milliseconds lies between them`() throws {
        for text in ["1970-01-01T00:00:01.0005Z", "1970-01-01T00:00:01.000000001Z"] {
            let span = try #require(TimeSpan(text))
            #expect(span.first == 1_001 && span.last == 1_000)
        }
        #expect(TimeSpan("1970-01-01T00:00:01.000000Z")?.first == 1_000)
    }

    @Test func `A date is its day in UTC`() throws {
        let span = try #require(TimeSpan("1970-01-02"))
        #expect(span.first == 86_400_000 && span.last == 172_799_999)
    }

    @Test(arguments: [
        "", "1970", "1970-1-01", "1970-13-01", "1970-00-01", "2025-02-29", "1970-01-01T00:00:00",
        "1970-01-01 00:00:00Z", "1970-01-01T24:00:00Z", "1970-01-01T00:00:00.Z", "1970-01-01Z",
        "1970-01-01T00:00:00ZZ", "1970-01-01T00:00Z", "1970-01-01T00:00:00+9:00", "..",
        "１970-01-01",
    ])
    func `Any other text is no time`(_ text: String) { #expect(TimeSpan(text) == nil) }

    @Test func `A millisecond's text is the time that it was read from`() throws {
        for time: Int64 in [0, -1, 1, 951_782_399_999, 1_795_514_400_000, -62_167_219_200_000] {
            let text = TimeSpan.text(ofMillisecond: time)
            #expect(TimeSpan(text)?.first == time, "\(text)")
        }
        // Every day of four hundred years has its own number, one after the other.
        var last: Int64 = -719_529
        for year: Int64 in 0...400 {
            for month: Int64 in 1...12 {
                let first = TimeSpan.days(year: year, month: month, day: 1)
                #expect(first > last && first - last <= 31)
                last = first
            }
        }
        #expect(TimeSpan.text(ofMillisecond: 951_782_400_000) == "2000-02-29T00:00:00.000Z")
    }
}
