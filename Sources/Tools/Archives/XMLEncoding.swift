/// The encodings of XML that are read: UTF-8 and UTF-16, which every reader knows, and the declared
/// code pages of Western Europe.
///
/// - Reference: XML 1.0, section 4.3.3 and appendix F.1.
enum XMLEncoding {
    /// The text in UTF-8. UTF-16 is known by its byte order mark, or by the `<` that it begins with;
    /// anything else is what its declaration says, without one UTF-8.
    ///
    /// - Throws: for another encoding, and for bytes that are not of the encoding.
    static func utf8(_ bytes: [UInt8]) throws(ArchiveFailure) -> [UInt8] {
        if let text = try utf16(bytes) { return text }
        let name = declared(bytes) ?? "utf-8"
        switch name.lowercased() {
        case "iso-8859-1", "latin1", "windows-1252": return Windows1252.utf8(bytes)
        case "utf-8", "utf8", "us-ascii", "ascii", "utf-16":
            guard !isUTF8(bytes) else { return bytes }
            let line = bytes.split(separator: 0x0A, omittingEmptySubsequences: false)
                .firstIndex { !isUTF8($0) }!
            throw ArchiveFailure("line \(line + 1) of the XML is not valid UTF-8")
        default:
            throw ArchiveFailure(
                "the XML declares the encoding \(name), which is not read; `iconv` and another "
                    + "declaration make it UTF-8")
        }
    }

    private static func isUTF8(_ bytes: some Collection<UInt8>) -> Bool {
        bytes.allSatisfy { $0 < 0x80 } || String(validating: bytes, as: UTF8.self) != nil
    }

    private static func utf16(_ bytes: [UInt8]) throws(ArchiveFailure) -> [UInt8]? {
        let (mark, open): ([UInt8], UInt8) = ([0xFE, 0xFF], UInt8(ascii: "<"))
        let isMarked = bytes.starts(with: mark) || bytes.starts(with: mark.reversed())
        let isBigEndian = bytes.starts(with: mark) || bytes.starts(with: [0, open])
        guard isMarked || isBigEndian || bytes.starts(with: [open, 0]) else { return nil }
        guard bytes.count % 2 == 0 else { throw ArchiveFailure("the XML in UTF-16 is cut off") }
        let (high, low) = isBigEndian ? (0, 1) : (1, 0)
        let units = ((isMarked ? 1 : 0)..<bytes.count / 2).lazy.map {
            UInt16(bytes[2 * $0 + high]) << 8 | UInt16(bytes[2 * $0 + low])
        }
        return Array(String(decoding: units, as: UTF16.self).utf8)
    }

    /// What `<?xml version="1.0" encoding="…"?>` says.
    private static func declared(_ bytes: [UInt8]) -> String? {
        let start = String(decoding: bytes.prefix(200), as: UTF8.self)
        guard start.drop(while: { $0 == "\u{FEFF}" }).hasPrefix("<?xml"),
            let declaration = start.split(separator: "?>", maxSplits: 1).first,
            let value = declaration.split(separator: "encoding", maxSplits: 1).dropFirst().first,
            let quote = value.first(where: { $0 == "\"" || $0 == "'" })
        else { return nil }
        return value.split(separator: quote, omittingEmptySubsequences: false).dropFirst().first
            .map(String.init)
    }
}
