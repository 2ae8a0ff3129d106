import JSONText

/// NSDecimalNumber: up to eight 16-bit words of mantissa, a power of ten, a sign.
enum ArchivedDecimal {
    /// Nil when a part of the number is missing or out of range.
    static func value(
        _ fields: FoundationClass.Fields, _ decoder: inout ArchiveDecoder
    ) throws(ArchiveFailure) -> ArchiveDecoder.Sized? {
        var (exponent, isNegative, isBigEndian) = (0, false, false)
        var words: Int?
        var mantissa: [UInt8]?
        for field in fields {
            switch (field.key, try decoder.read(field.value)) {
            case ("NS.exponent", .number(let number)): exponent = number.exactInt ?? .max
            case ("NS.length", .number(let number)): words = number.exactInt
            case ("NS.negative", .bool(let bool)): isNegative = bool
            case ("NS.mantissa.bo", .number(let number)): isBigEndian = number.exactInt == 2
            case ("NS.mantissa", .data(let bytes)): mantissa = bytes
            default: break
            }
        }
        guard let words, let mantissa, (0...8).contains(words), mantissa.count >= 2 * words,
            (-128...127).contains(exponent)
        else { return nil }
        if words == 0, isNegative { throw decoder.failure("NaN has no JSON spelling") }
        var digits: UInt128 = 0
        for word in (0..<words).reversed() {
            let (low, high) = isBigEndian ? (1, 0) : (0, 1)
            let bits = UInt128(mantissa[2 * word + high]) << 8 | UInt128(mantissa[2 * word + low])
            digits = digits << 16 | bits
        }
        guard let value = value(digits, exponent, isNegative) else { return nil }
        return .init(value: value)
    }

    /// A whole number of 64 bits stays exact; any other number is parsed from its decimal spelling.
    private static func value(
        _ mantissa: UInt128, _ exponent: Int, _ isNegative: Bool
    ) -> JSONValue? {
        var (digits, power) = (mantissa, mantissa == 0 ? 0 : exponent)
        while power < 0, digits % 10 == 0 { (digits, power) = (digits / 10, power + 1) }
        if let magnitude = whole(digits, power) {
            let value = isNegative ? -Int128(magnitude) : Int128(magnitude)
            if let value = Int64(exactly: value) { return .number(.integer(value)) }
            if !isNegative { return .number(.unsigned(magnitude)) }
        }
        return try? JSONValue(parsing: (isNegative ? "-" : "") + spelled(digits, power))
    }

    /// Nil for a number that is not whole or beyond 64 bits.
    private static func whole(_ digits: UInt128, _ power: Int) -> UInt64? {
        guard power >= 0 else { return nil }
        var value = UInt64(exactly: digits)
        for _ in 0..<power {
            guard let (product, overflows) = value?.multipliedReportingOverflow(by: 10),
                !overflows
            else { return nil }
            value = product
        }
        return value
    }

    /// With a decimal point if that takes few zeros, else with a power of ten.
    private static func spelled(_ digits: UInt128, _ power: Int) -> String {
        let text = String(digits)
        guard (-40..<0).contains(power) else { return power == 0 ? text : "\(text)e\(power)" }
        let zeros = String(repeating: "0", count: max(0, 1 - power - text.count))
        return (zeros + text).dropLast(-power) + "." + (zeros + text).suffix(-power)
    }
}
