/// The code page of Western Windows, which is also what texts hold that call themselves ISO 8859-1.
///
/// - Reference: WHATWG, "Encoding", index windows-1252.
public enum Windows1252 {
    /// The text in UTF-8. Every byte is a character.
    public static func utf8(_ bytes: some Sequence<UInt8>) -> [UInt8] {
        var text = String.UnicodeScalarView()
        for byte in bytes {
            text.append(
                (0x80...0x9F).contains(byte) ? others[Int(byte) - 0x80] : Unicode.Scalar(byte))
        }
        return Array(String(text).utf8)
    }

    /// What it has in the place of control characters.
    private static let others: [Unicode.Scalar] = Array(
        ("€\u{81}‚ƒ„…†‡ˆ‰Š‹Œ\u{8D}Ž\u{8F}\u{90}‘’“”•–—˜™š›œ\u{9D}žŸ" as String).unicodeScalars)
}
