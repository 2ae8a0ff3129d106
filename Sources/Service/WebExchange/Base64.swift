import JSONText

/// Base64 with the alphabet and padding of `Authorization: Basic` (RFC 4648, 4).
public enum Base64 {
    /// The bytes of a text; nil if it is not Base64.
    public static func decode(_ text: String) -> [UInt8]? {
        var plain = Array(text.utf8)
        while plain.last == UInt8(ascii: "=") { plain.removeLast() }
        for (place, byte) in plain.enumerated() {
            switch byte {
            case UInt8(ascii: "+"): plain[place] = UInt8(ascii: "-")
            case UInt8(ascii: "/"): plain[place] = UInt8(ascii: "_")
            case UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "="): return nil
            default: break
            }
        }
        return Base64URL.decode(String(decoding: plain, as: UTF8.self))
    }
}
