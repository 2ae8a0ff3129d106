/// The encodings that every reader of XML knows: UTF-8 and UTF-16.
///
/// - Reference: XML 1.0, section 4.3.3 and appendix F.1.
enum XMLEncoding {
    /// The text in UTF-8. UTF-16 is known by its byte order mark, or by the `<` that it begins with.
    static func utf8(_ bytes: [UInt8]) throws(ArchiveFailure) -> [UInt8] {
        let (mark, open): ([UInt8], UInt8) = ([0xFE, 0xFF], UInt8(ascii: "<"))
        let isMarked = bytes.starts(with: mark) || bytes.starts(with: mark.reversed())
        let isBigEndian = bytes.starts(with: mark) || bytes.starts(with: [0, open])
        guard isMarked || isBigEndian || bytes.starts(with: [open, 0]) else { return bytes }
        guard bytes.count % 2 == 0 else {
            throw ArchiveFailure("the XML property list in UTF-16 is cut off")
        }
        let (high, low) = isBigEndian ? (0, 1) : (1, 0)
        let units = ((isMarked ? 1 : 0)..<bytes.count / 2).lazy.map {
            UInt16(bytes[2 * $0 + high]) << 8 | UInt16(bytes[2 * $0 + low])
        }
        return Array(String(decoding: units, as: UTF16.self).utf8)
    }
}
