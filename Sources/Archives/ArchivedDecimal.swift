import JSONText

/// NSDecimalNumber: up to eight 16-bit words of mantissa, a power of ten, a sign.
enum ArchivedDecimal {
    static func value(
        _ fields: FoundationClass.Fields, _ decoder: inout ArchiveDecoder
    ) throws(ArchiveFailure) -> ArchiveDecoder.Sized? {
        var (exponent, words, isNegative, isBigEndian) = (0, 0, false, false)
        var mantissa: [UInt8] = []
        for field in fields {
            switch (field.key, try decoder.read(field.value)) {
            case ("NS.exponent", .number(let number)): exponent = number.exactInt ?? 0
            case ("NS.length", .number(let number)): words = number.exactInt ?? 0
            case ("NS.negative", .bool(let bool)): isNegative = bool
            case ("NS.mantissa.bo", .number(let number)): isBigEndian = number.exactInt == 2
            case ("NS.mantissa", .data(let bytes)): mantissa = bytes
            default: break
            }
        }
        guard (0...8).contains(words), mantissa.count >= 2 * words,
            (-128...127).contains(exponent)
        else { return nil }
        var digits: UInt128 = 0
        for word in (0..<words).reversed() {
            let (low, high) = isBigEndian ? (1, 0) : (0, 1)
            let bits = UInt128(mantissa[2 * word + high]) << 8 | UInt128(mantissa[2 * word + low])
            digits = digits << 16 | bits
        }
        let text = "\(isNegative ? "-" : "")\(digits)" + (exponent == 0 ? "" : "e\(exponent)")
        if let whole = Int64(text) { return .init(value: .number(.integer(whole))) }
        guard let value = Double(text), value.isFinite else { return nil }
        return .init(value: .number(.decimal(value)))
    }
}
