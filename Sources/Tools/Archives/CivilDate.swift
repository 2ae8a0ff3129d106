/// Days of the Gregorian calendar.
public enum CivilDate {
    /// Days from 1970-01-01 to a date; nil for one that the calendar does not have.
    public static func daysSince1970(_ year: Int, _ month: Int, _ day: Int) -> Int? {
        guard (1...12).contains(month) else { return nil }
        let first = firstDay(year, month)
        let next = firstDay(month < 12 ? year : year + 1, month % 12 + 1)
        return (1...next - first).contains(day) ? first + day - 1 : nil
    }

    /// - Reference: Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms".
    private static func firstDay(_ year: Int, _ month: Int) -> Int {
        let year = month <= 2 ? year - 1 : year
        let era = (year >= 0 ? year : year - 399) / 400
        let yearOfEra = year - era * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
            - 719_468
    }
}
