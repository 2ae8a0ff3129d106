/// The number of terminal columns that a text takes.
///
/// East Asian wide characters and emoji take two, combining marks and format characters none.
/// - Reference: Unicode Standard Annex 11, "East Asian Width".
enum DisplayWidth {
    static func of(_ text: String) -> Int {
        // Printable ASCII, the common case, needs no property lookup.
        if text.utf8.allSatisfy({ $0 >= 0x20 && $0 < 0x7F }) { return text.utf8.count }
        return text.reduce(0) { $0 + of($1) }
    }

    static func of(_ character: Character) -> Int {
        let scalars = character.unicodeScalars
        let widest = scalars.reduce(0) { max($0, of($1)) }
        // An emoji selector, or a pair of regional indicators, makes one wide picture.
        let isPicture = scalars.count > 1 && scalars.contains { $0.value == 0xFE0F }
        return isPicture ? 2 : widest
    }

    /// The longest prefix that takes at most `columns`; if anything is cut, its last column is an
    /// ellipsis.
    static func cut(_ text: String, to columns: Int) -> String {
        guard of(text) > columns else { return text }
        var kept = ""
        var width = 0
        for character in text {
            width += of(character)
            if width > columns - 1 { break }
            kept.append(character)
        }
        return columns > 0 ? kept + "…" : ""
    }

    private static func of(_ scalar: Unicode.Scalar) -> Int {
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .enclosingMark, .format, .control: 0
        default: isWide(scalar) ? 2 : 1
        }
    }

    private static func isWide(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x1100...0x115F,  // Hangul initial consonants
            0x2E80...0x303E, 0x3041...0x33FF, 0x3400...0x4DBF, 0x4E00...0x9FFF,  // CJK, kana
            0xA000...0xA4CF, 0xA960...0xA97F, 0xAC00...0xD7A3,  // Yi, Hangul
            0xF900...0xFAFF, 0xFE30...0xFE6F, 0xFF00...0xFF60, 0xFFE0...0xFFE6,  // full width
            0x16FE0...0x18CFF, 0x1AFF0...0x1B2FF,  // Tangut, old kana
            0x1F1E6...0x1F1FF, 0x20000...0x3FFFD:  // flags, further ideographs
            true
        default: scalar.properties.isEmojiPresentation
        }
    }
}
