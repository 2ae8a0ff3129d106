/// Bytes as text: RFC 4648 section 5, without padding.
public enum Base64URL {
    private static var alphabet: StaticString {
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
    }

    private static let values: [UInt8] = {
        var table = [UInt8](repeating: 255, count: 256)
        for value in 0..<64 { table[Int(letter(UInt32(value)))] = UInt8(value) }
        return table
    }()

    /// The text of bytes, four characters for every three; the last ones take two or three.
    public static func encode(_ bytes: [UInt8]) -> String {
        let length = (bytes.count * 8 + 5) / 6
        return String(unsafeUninitializedCapacity: length) { text in
            var (bits, bitCount, at) = (UInt32(0), 0, 0)
            for byte in bytes {
                bits = bits << 8 | UInt32(byte)
                bitCount += 8
                while bitCount >= 6 {
                    bitCount -= 6
                    text[at] = letter(bits >> UInt32(bitCount))
                    at += 1
                }
            }
            if bitCount > 0 { text[at] = letter(bits << UInt32(6 - bitCount)) }
            return length
        }
    }

    /// The letter of the lowest six bits.
    private static func letter(_ bits: UInt32) -> UInt8 { alphabet.utf8Start[Int(bits & 63)] }

    /// Nil for anything that `encode` does not make.
    public static func decode(_ text: String) -> [UInt8]? {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.utf8.count * 3 / 4)
        var (bits, bitCount) = (UInt32(0), 0)
        for unit in text.utf8 {
            let value = values[Int(unit)]
            guard value != 255 else { return nil }
            bits = bits << 6 | UInt32(value)
            bitCount += 6
            if bitCount >= 8 {
                bitCount -= 8
                bytes.append(UInt8(truncatingIfNeeded: bits >> UInt32(bitCount)))
            }
        }
        // One spelling for each key: no stray digit, no stray bits.
        guard bitCount < 6, bits & (1 << UInt32(bitCount) - 1) == 0 else { return nil }
        return bytes
    }
}
