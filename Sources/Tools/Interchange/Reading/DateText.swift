import Archives

/// Dates as people write them, as milliseconds since 1970.
enum DateText {
    /// - Parameter format: with the letters of strftime(3): `%Y %y %m %d %H %M %S %z`; nil: ISO 8601,
    ///   with or without a time, a fraction and an offset. Without an offset it is UTC.
    static func milliseconds(_ text: String, format: String? = nil) -> Int64? {
        guard let format else { return iso(text) }
        return Self.milliseconds(text[...], format)
    }

    /// `2024-05-01`, `2024-05-01T12:30:15.250Z`, `2024-05-01 12:30+02:00`
    private static func iso(_ text: String) -> Int64? {
        let text = text.replacing("T", with: " ", maxReplacements: 1)
        for format in ["%Y-%m-%d", "%Y-%m-%d %H:%M", "%Y-%m-%d %H:%M:%S"] {
            for end in ["", "%z"] {
                if let found = milliseconds(text[...], format + end) { return found }
            }
        }
        return nil
    }

    private static func milliseconds(_ text: Substring, _ format: String) -> Int64? {
        var (rest, letters) = (text, format[...])
        var fields: [Character: Int64] = ["Y": 1_970, "m": 1, "d": 1]
        var fraction: Int64 = 0
        while let letter = letters.popFirst() {
            guard letter == "%", let field = letters.popFirst() else {
                guard rest.popFirst() == letter else { return nil }
                continue
            }
            guard field != "z" else {
                guard let minutes = offset(&rest) else { return nil }
                fields["z"] = minutes
                continue
            }
            guard let number = number(&rest, atMost: field == "Y" ? 4 : 2) else { return nil }
            fields[field == "y" ? "Y" : field] =
                field == "y" ? number + (number < 70 ? 2_000 : 1_900) : number
            if field == "S", rest.first == "." {
                let digits = rest.dropFirst().prefix { $0.isASCII && $0.isNumber }
                guard let number = Int64((digits + "000").prefix(3)), !digits.isEmpty else {
                    return nil
                }
                (fraction, rest) = (number, rest.dropFirst(digits.count + 1))
            }
        }
        guard rest.isEmpty, let seconds = seconds(fields) else { return nil }
        return seconds * 1_000 + fraction
    }

    private static func number(_ rest: inout Substring, atMost count: Int) -> Int64? {
        let digits = rest.prefix(count).prefix { $0.isASCII && $0.isNumber }
        rest = rest.dropFirst(digits.count)
        return Int64(digits)
    }

    /// Minutes east of UTC: `Z`, `+02:00`, `-0330`, `+02`.
    private static func offset(_ rest: inout Substring) -> Int64? {
        guard let sign = rest.popFirst() else { return nil }
        if sign == "Z" { return 0 }
        guard sign == "+" || sign == "-", let hours = number(&rest, atMost: 2) else { return nil }
        if rest.first == ":" { rest.removeFirst() }
        let minutes = rest.isEmpty ? 0 : number(&rest, atMost: 2) ?? 0
        return (sign == "-" ? -1 : 1) * (hours * 60 + minutes)
    }

    private static func seconds(_ fields: [Character: Int64]) -> Int64? {
        let (hour, minute, second) = (fields["H"] ?? 0, fields["M"] ?? 0, fields["S"] ?? 0)
        let date = ["Y", "m", "d"].map { Int(fields[$0]!) }
        guard let days = CivilDate.daysSince1970(date[0], date[1], date[2]),
            (0...24).contains(hour), (0...59).contains(minute), (0...60).contains(second)
        else { return nil }
        return Int64(days) * 86_400 + hour * 3_600 + minute * 60 + second - (fields["z"] ?? 0) * 60
    }
}
