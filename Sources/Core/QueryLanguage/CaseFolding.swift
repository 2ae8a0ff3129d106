/// Texts without regard to case, by Unicode's full case folding: "ß", "ẞ" and "SS" become "ss".
///
/// - Reference: The Unicode Standard, section 3.13, "toCasefold".
public enum CaseFolding {
    /// A text, as UTF-8, folded: what differs only in case is then the same. O(bytes).
    public static func folded(_ text: UnsafeBufferPointer<UInt8>) -> [UInt8] {
        var folded: [UInt8] = []
        folded.reserveCapacity(text.count)
        var position = 0
        while position < text.count {
            let byte = text[position]
            if byte < 0x80 {
                folded.append((0x41...0x5A).contains(byte) ? byte | 0x20 : byte)
                position += 1
                continue
            }
            let start = position
            if let other = table[text.character(at: &position)] {
                folded += other
            } else {
                folded += text[start..<position]
            }
        }
        return folded
    }

    /// A text, folded.
    public static func folded(_ text: String) -> String {
        String(
            decoding: Array(text.utf8).withUnsafeBufferPointer { folded($0) as [UInt8] },
            as: UTF8.self)
    }

    /// What the characters beyond ASCII become that folding changes.
    private static let table: [UInt32: [UInt8]] = {
        var table: [UInt32: [UInt8]] = [:]
        // There are no letters with a case in the planes behind.
        for value in UInt32(0x80)...0x1_FFFF {
            guard let scalar = Unicode.Scalar(value), scalar.properties.changesWhenCaseFolded
            else { continue }
            table[value] = Array(fold(scalar).utf8)
        }
        return table
    }()

    private static func fold(_ scalar: Unicode.Scalar) -> String {
        func map(_ text: String, _ mapping: (Unicode.Scalar.Properties) -> String) -> String {
            text.unicodeScalars.map { mapping($0.properties) }.joined()
        }
        let lower = map(String(scalar), \.lowercaseMapping)
        let folded = map(map(lower, \.uppercaseMapping), \.lowercaseMapping)
        // The small letters of Cherokee, younger than its capitals, become those.
        return folded.unicodeScalars.elementsEqual(CollectionOfOne(scalar))
            ? scalar.properties.uppercaseMapping : folded
    }
}
