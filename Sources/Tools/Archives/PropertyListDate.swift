import JSONText

/// Times in property lists: seconds since 2001-01-01T00:00:00Z, or `<date>` text.
enum PropertyListDate {
    /// Seconds from 1970 to 2001.
    private static let epochSeconds = 978_307_200

    /// Milliseconds since 1970-01-01T00:00:00Z; nil beyond 64 bits.
    static func milliseconds(_ seconds: Double) -> Int64? {
        Int64(exactly: ((seconds + Double(epochSeconds)) * 1_000).rounded())
    }

    /// `2016-10-01T09:30:00Z`; nil for anything else.
    static func seconds(_ text: String) -> Double? {
        guard let match = text.wholeMatch(of: /(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)Z/),
            let year = Int(match.1), let month = Int(match.2), let day = Int(match.3),
            let hour = Int(match.4), let minute = Int(match.5), let second = Int(match.6),
            let days = CivilDate.daysSince1970(year, month, day), hour < 24, minute < 60,
            second < 61
        else { return nil }
        return Double((days * 24 + hour) * 3_600 + minute * 60 + second - epochSeconds)
    }
}
