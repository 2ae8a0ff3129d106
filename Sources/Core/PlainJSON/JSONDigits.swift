/// A number with digits that neither 64-bit integers nor binary64 keep: one of 30 digits, or
/// `0.1234567890123456789`.
///
///     try JSONValue(parsing: "0.1234567890123456789").text     // 0.1234567890123456789
///
/// Two are equal when they are the same number, however it is spelled.
public struct JSONDigits: Sendable, Hashable {
    /// The number as it was spelled.
    public let text: String
    /// The nearest binary64.
    public let nearest: Double

    /// - Parameter nearest: the binary64 that a parser made of the text.
    /// - Returns: nil where that keeps all the digits.
    init?(_ text: UnsafeBufferPointer<UInt8>, nearest: Double) {
        guard !Self.isKept(text, nearest) else { return nil }
        self.text = String(decoding: text, as: UTF8.self)
        self.nearest = nearest
    }

    /// Whether the shortest spelling of a binary64 is the number that a text says.
    private static func isKept(_ text: UnsafeBufferPointer<UInt8>, _ value: Double) -> Bool {
        // No two decimals of at most 15 digits have the same binary64, if it has all its bits.
        if text.count <= 15 && value.isNormal { return true }
        return Decimal(text) == Decimal(value.description.utf8)
    }

    /// By exact value: 1.50 equals 1.5.
    public static func == (a: JSONDigits, b: JSONDigits) -> Bool {
        Decimal(a.text.utf8) == Decimal(b.text.utf8)
    }

    public func hash(into hasher: inout Hasher) { hasher.combine(Decimal(text.utf8)) }

    /// The value as an integer; nil when it has a fraction or does not fit.
    func exactly<Integer: FixedWidthInteger>(_ type: Integer.Type = Integer.self) -> Integer? {
        let decimal = Decimal(text.utf8)
        let zeros = decimal.exponent - decimal.digits.count
        guard (0...20).contains(zeros) else { return nil }
        let digits = decimal.digits + [UInt8](repeating: UInt8(ascii: "0"), count: zeros)
        return Integer((decimal.isNegative ? "-" : "") + String(decoding: digits, as: UTF8.self))
    }

    /// A number by its digits: ±0.DIGITS × 10^exponent, without zeros at either end.
    private struct Decimal: Hashable {
        var isNegative = false
        var digits: [UInt8] = []
        var exponent = 0

        /// - Parameter text: a number of JSON.
        init(_ text: some Collection<UInt8>) {
            let mantissa = text.prefix { $0 | 0x20 != UInt8(ascii: "e") }
            var isFraction = false
            for unit in mantissa {
                switch unit {
                case UInt8(ascii: "-"): isNegative = true
                case UInt8(ascii: "."): isFraction = true
                case UInt8(ascii: "0") where digits.isEmpty: exponent -= isFraction ? 1 : 0
                default:
                    digits.append(unit)
                    exponent += isFraction ? 0 : 1
                }
            }
            while digits.last == UInt8(ascii: "0") { digits.removeLast() }
            if digits.isEmpty {
                (isNegative, exponent) = (false, 0)
            } else {
                exponent += Self.power(text.dropFirst(mantissa.count))
            }
        }

        /// What stands behind `e`; so small a one as 32 bits do not hold is like any other.
        private static func power(_ text: some Collection<UInt8>) -> Int {
            guard !text.isEmpty else { return 0 }
            let power = Int(String(decoding: text.dropFirst(), as: UTF8.self)) ?? .min
            return max(power, Int(Int32.min))
        }
    }
}
