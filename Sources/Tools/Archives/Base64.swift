/// RFC 4648, section 4: the encoding of bytes in XML property lists and in this service's objects.
enum Base64 {
    private static let digits = Array(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

    static func encoded(_ bytes: [UInt8]) -> String {
        var text: [UInt8] = []
        text.reserveCapacity((bytes.count + 2) / 3 * 4)
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let group = bytes[start..<min(start + 3, bytes.count)]
            var bits = group.reduce(0 as UInt32) { $0 << 8 | UInt32($1) }
            bits <<= 8 * UInt32(3 - group.count)
            for position in 0..<4 {
                text.append(
                    position <= group.count
                        ? digits[Int(bits >> (18 - 6 * UInt32(position)) & 63)] : UInt8(ascii: "="))
            }
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// Ignores white space; nil for any other character that is no digit, or for a wrong length.
    static func decoded(_ text: String) -> [UInt8]? {
        var bytes: [UInt8] = []
        var bits: UInt32 = 0
        var (count, padding) = (0, 0)
        for unit in text.utf8 where unit > 0x20 {
            if unit == UInt8(ascii: "=") {
                padding += 1
                continue
            }
            guard padding == 0, let digit = value(unit) else { return nil }
            bits = bits << 6 | digit
            count += 1
            if count % 4 == 0 {
                bytes += [UInt8(bits >> 16 & 255), UInt8(bits >> 8 & 255), UInt8(bits & 255)]
            }
        }
        switch (count % 4, padding) {
        case (0, 0): break
        case (2, 2): bytes.append(UInt8(bits >> 4 & 255))
        case (3, 1): bytes += [UInt8(bits >> 10 & 255), UInt8(bits >> 2 & 255)]
        default: return nil
        }
        return bytes
    }

    private static func value(_ unit: UInt8) -> UInt32? {
        switch unit {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): UInt32(unit - UInt8(ascii: "A"))
        case UInt8(ascii: "a")...UInt8(ascii: "z"): UInt32(unit - UInt8(ascii: "a")) + 26
        case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(unit - UInt8(ascii: "0")) + 52
        case UInt8(ascii: "+"): 62
        case UInt8(ascii: "/"): 63
        default: nil
        }
    }
}
