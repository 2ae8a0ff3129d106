import Archives

/// The encodings that a text can be in.
public enum TextEncoding: String, Sendable, Hashable, CaseIterable {
    /// UTF-8, which ASCII is a part of.
    case utf8 = "utf-8"
    /// UTF-16 with the low byte first.
    case utf16LittleEndian = "utf-16le"
    /// UTF-16 with the high byte first.
    case utf16BigEndian = "utf-16be"
    /// The code page of Western Windows.
    case windows1252 = "windows-1252"

    /// The encoding of a name as people write it; nil for one that is not known.
    public init?(named name: String) {
        switch name.lowercased().filter({ $0 != "-" && $0 != "_" }) {
        case "utf8", "ascii", "usascii": self = .utf8
        case "utf16", "utf16le": self = .utf16LittleEndian
        case "utf16be": self = .utf16BigEndian
        // What is called ISO 8859-1 mostly is Windows-1252, which has more characters.
        case "windows1252", "cp1252", "latin1", "iso88591": self = .windows1252
        default: return nil
        }
    }

    /// UTF-16 by its byte order mark or by its NULs; Windows-1252 if `mayBeWindows` and more
    /// characters are not UTF-8 than are; else UTF-8.
    init(of head: UnsafeBufferPointer<UInt8>, mayBeWindows: Bool) {
        let start = head.prefix(4_096)
        if start.starts(with: [0xFF, 0xFE]) {
            self = .utf16LittleEndian
        } else if start.starts(with: [0xFE, 0xFF]) {
            self = .utf16BigEndian
        } else if start.contains(0) {
            // A stray NUL makes no UTF-16: most of its characters have one, in the same half.
            let even = stride(from: 0, to: start.count, by: 2).count { start[$0] == 0 }
            let odd = stride(from: 1, to: start.count, by: 2).count { start[$0] == 0 }
            let isMost = max(even, odd) * 8 > start.count && max(even, odd) > 2 * min(even, odd)
            self = !isMost ? .utf8 : odd > even ? .utf16LittleEndian : .utf16BigEndian
        } else {
            self = mayBeWindows && Self.isMostlyOther(head) ? .windows1252 : .utf8
        }
    }

    private static func isMostlyOther(_ head: UnsafeBufferPointer<UInt8>) -> Bool {
        guard head.contains(where: { $0 >= 0x80 }) else { return false }
        // The last character of a piece may be cut.
        let text = String(decoding: head.dropLast(head.count < 65_536 ? 0 : 3), as: UTF8.self)
        var (valid, invalid) = (0, 0)
        for scalar in text.unicodeScalars where scalar.value >= 0x80 {
            if scalar == "\u{FFFD}" { invalid += 1 } else { valid += 1 }
        }
        return invalid > valid
    }
}

/// Turns text of another encoding into UTF-8, piece by piece.
struct TextDecoder {
    private let encoding: TextEncoding
    /// Bytes of a character that the last piece cut.
    private var rest: [UInt8] = []

    init(_ encoding: TextEncoding) { self.encoding = encoding }

    mutating func utf8(_ bytes: [UInt8]) -> [UInt8] {
        switch encoding {
        case .utf8: return bytes
        case .windows1252: return Windows1252.utf8(bytes)
        case .utf16LittleEndian: return utf16(bytes, high: 1)
        case .utf16BigEndian: return utf16(bytes, high: 0)
        }
    }

    private mutating func utf16(_ bytes: [UInt8], high: Int) -> [UInt8] {
        let all = rest + bytes
        var units = stride(from: 0, to: all.count - 1, by: 2).map { at in
            UInt16(all[at + high]) << 8 | UInt16(all[at + 1 - high])
        }
        rest = all.count % 2 == 1 ? [all[all.count - 1]] : []
        if let last = units.last, UTF16.isLeadSurrogate(last) {
            units.removeLast()
            rest = Array(all[(2 * units.count)...])
        }
        return Array(String(decoding: units, as: UTF16.self).utf8)
    }
}
