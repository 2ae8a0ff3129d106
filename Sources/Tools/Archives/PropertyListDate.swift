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
            (1...12).contains(month), day > 0, hour < 24, minute < 60, second < 61
        else { return nil }
        let firstDay = daysSince1970(year, month, 1)
        let nextMonth = daysSince1970(month < 12 ? year : year + 1, month % 12 + 1, 1)
        guard day <= nextMonth - firstDay else { return nil }
        let time = ((firstDay + day - 1) * 24 + hour) * 3_600 + minute * 60 + second
        return Double(time - epochSeconds)
    }

    /// - Reference: Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms".
    private static func daysSince1970(_ year: Int, _ month: Int, _ day: Int) -> Int {
        let year = month <= 2 ? year - 1 : year
        let era = (year >= 0 ? year : year - 399) / 400
        let yearOfEra = year - era * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        return era * 146_097 + dayOfEra - 719_468
    }
}
