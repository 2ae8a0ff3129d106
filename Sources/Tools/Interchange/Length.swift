/// Lengths as people type them: `5km`, `1.5 nmi`, `300`.
///
///     try Length.parse("5km")        // 5000.0
public enum Length {
    /// Metres of one unit: the international mile and foot, the nautical mile.
    private static let metersPerUnit: [String: Double] = [
        "": 1, "m": 1, "km": 1_000, "mi": 1_609.344, "nmi": 1_852, "ft": 0.3048,
    ]

    /// The length in metres, greater than 0. A number without a unit is in metres.
    public static func parse(_ text: String) throws(InterchangeError) -> Double {
        let unit = String(text.reversed().prefix { $0.isLetter }.reversed())
        let number = String(text.dropLast(unit.count)).trimmingSpaces
        guard let factor = metersPerUnit[unit.lowercased()] else {
            throw InterchangeError(
                "\"\(text)\": no unit \"\(unit)\"; there are m, km, mi, nmi and ft")
        }
        guard let value = parseDecimal(number) else {
            throw InterchangeError("\"\(text)\" is no length; expected one like 300, 5km or 1.5mi")
        }
        let meters = value * factor
        guard meters > 0, meters.isFinite else {
            throw InterchangeError("\"\(text)\" is no length to search within: not greater than 0")
        }
        return meters
    }
}

/// A decimal number in plain or exponent notation; nil for anything else, including `nan`, `inf`
/// and `0x1`.
func parseDecimal(_ text: String) -> Double? {
    guard !text.isEmpty, text.utf8.allSatisfy({ "0123456789+-.eE".utf8.contains($0) }),
        let value = Double(text), value.isFinite
    else { return nil }
    return value
}

extension StringProtocol {
    var trimmingSpaces: String {
        let kept = drop { $0.isWhitespace }
        return String(kept.reversed().drop { $0.isWhitespace }.reversed())
    }
}
