import JSONText

/// Base64 with the alphabet and padding of `Authorization: Basic` (RFC 4648, 4).
public enum Base64 {
    /// The bytes of a text; nil if it is not Base64.
    public static func decode(_ text: String) -> [UInt8]? {
        let plain = text.prefix { $0 != "=" }
        guard text[plain.endIndex...].allSatisfy({ $0 == "=" }) else { return nil }
        guard !plain.contains(where: { $0 == "-" || $0 == "_" }) else { return nil }
        return Base64URL.decode(String(plain.map { $0 == "+" ? "-" : $0 == "/" ? "_" : $0 }))
    }
}
