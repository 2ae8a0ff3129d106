/// The limits on the length of an object's minified JSON.
public struct DocumentSize: Sendable, Equatable {
    /// Characters (Unicode code points), each escape counted as the one that it stands for: an
    /// object has one number of them, however it is spelled.
    public var characters: Int
    /// Bytes as spelled.
    public var bytes: Int

    /// Limits of so many characters and bytes.
    public init(characters: Int, bytes: Int) {
        self.characters = characters
        self.bytes = bytes
    }

    /// What is wrong with the length of a text, as a sentence; nil if nothing is.
    ///
    /// - Parameters:
    ///   - text: minified JSON.
    ///   - uncounted: bytes of it that do not count, each a character.
    /// - Complexity: O(1) for a text that has no more bytes than characters are allowed.
    public func excess(of text: [UInt8], uncounted: Int = 0) -> String? {
        func excess(_ count: Int, _ unit: String, _ limit: Int) -> String? {
            guard count > limit else { return nil }
            return "the object has \(count) \(unit) of minified JSON, at most \(limit) are allowed"
        }
        let length = text.count - uncounted
        if let excess = excess(length, "bytes", bytes) { return excess }
        guard length > characters else { return nil }
        let count = text.withUnsafeBufferPointer(Self.characters) - uncounted
        return excess(count, "characters", characters)
    }

    /// The characters of valid JSON, its escapes resolved.
    static func characters(_ text: UnsafeBufferPointer<UInt8>) -> Int {
        var (count, next) = (0, 0)
        while next < text.count {
            let byte = text[next]
            if byte != UInt8(ascii: "\\") {
                // Bytes that continue a character are no characters.
                if byte & 0xC0 != 0x80 { count += 1 }
                next += 1
            } else if text[next + 1] != UInt8(ascii: "u") {
                (count, next) = (count + 1, next + 2)
            } else {
                // The second half of a surrogate pair, \uDC00 to \uDFFF, belongs to the first.
                let isSecondHalf =
                    text[next + 2] | 0x20 == UInt8(ascii: "d")
                    && (text[next + 3] | 0x20 >= UInt8(ascii: "c"))
                (count, next) = (count + (isSecondHalf ? 0 : 1), next + 6)
            }
        }
        return count
    }
}
