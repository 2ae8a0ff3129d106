import Digests
import Objects

/// Object ids made of any text: one rule, so that a second load replaces what the first wrote.
///
///     EscapedID.text("node/240109189")      // node_2F240109189
///     EscapedID.text("1")                   // _31
///
/// A valid id stays as it is. In any other text each byte of its UTF-8 outside `[a-zA-Z0-9.-]`
/// becomes `_` and two hexadecimal digits. A single character is written so even if it is none of
/// those bytes. What would be longer than 100 is the SHA-256 of the text in hexadecimal.
public enum EscapedID {
    /// The id of a text that is not empty.
    public static func text(_ source: String) -> String {
        if isValid(source) { return source }
        let bytes = Array(source.utf8)
        var id = ""
        for byte in bytes {
            id += bytes.count > 1 && isPlain(byte) ? String(UnicodeScalar(byte)) : "_" + hex(byte)
        }
        guard id.utf8.count > longest else { return id }
        return SHA256.digest(of: bytes).map { hex($0).lowercased() }.joined()
    }

    /// Whether the service takes the text as an id.
    public static func isValid(_ text: String) -> Bool { ObjectID.isValid(text) }

    private static let longest = 100

    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"):
            true
        default: false
        }
    }

    private static func hex(_ byte: UInt8) -> String {
        let digits = Array("0123456789ABCDEF")
        return String([digits[Int(byte >> 4)], digits[Int(byte & 15)]])
    }
}
