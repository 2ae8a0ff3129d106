/// The strings of one text that have escapes, without them, in memory that stays where it is.
struct UnescapedStrings {
    /// All of them together have room in this many bytes, since none grows.
    private let capacity: Int
    private var base: UnsafeMutablePointer<UInt8>?
    private var used = 0

    init(capacity: Int) { self.capacity = capacity }

    func deallocate() { base?.deallocate() }

    /// A string without its escapes; nil for an escape that is none of JSON's, and for half a
    /// surrogate pair.
    ///
    /// - Parameter content: what stands between the quotes.
    mutating func unescaped(
        _ content: UnsafeBufferPointer<UInt8>
    ) -> UnsafeBufferPointer<UInt8>? {
        if base == nil { base = .allocate(capacity: capacity) }
        let start = used
        var rest = content[...]
        while let unit = rest.popFirst() {
            if unit != UInt8(ascii: "\\") {
                append(unit)
            } else if let scalar = Self.scalar(&rest) {
                for unit in UTF8.encode(scalar)! { append(unit) }
            } else {
                return nil
            }
        }
        return UnsafeBufferPointer(start: base! + start, count: used - start)
    }

    private mutating func append(_ unit: UInt8) {
        base![used] = unit
        used += 1
    }

    /// Reads what stands behind a backslash.
    private static func scalar(_ rest: inout Slice<UnsafeBufferPointer<UInt8>>) -> UnicodeScalar? {
        switch rest.popFirst() {
        case UInt8(ascii: "\""): "\""
        case UInt8(ascii: "\\"): "\\"
        case UInt8(ascii: "/"): "/"
        case UInt8(ascii: "b"): "\u{08}"
        case UInt8(ascii: "f"): "\u{0C}"
        case UInt8(ascii: "n"): "\n"
        case UInt8(ascii: "r"): "\r"
        case UInt8(ascii: "t"): "\t"
        case UInt8(ascii: "u"): codePoint(&rest)
        default: nil
        }
    }

    /// Reads four hexadecimal digits, and those of the second half of a surrogate pair.
    private static func codePoint(
        _ rest: inout Slice<UnsafeBufferPointer<UInt8>>
    ) -> UnicodeScalar? {
        guard let first = fourDigits(&rest) else { return nil }
        guard UTF16.isLeadSurrogate(first) else { return UnicodeScalar(first) }
        guard rest.popFirst() == UInt8(ascii: "\\"), rest.popFirst() == UInt8(ascii: "u"),
            let second = fourDigits(&rest), UTF16.isTrailSurrogate(second)
        else { return nil }
        return UTF16.decode(UTF16.EncodedScalar([first, second]))
    }

    private static func fourDigits(_ rest: inout Slice<UnsafeBufferPointer<UInt8>>) -> UInt16? {
        var value: UInt16 = 0
        for _ in 0..<4 {
            guard let digit = rest.popFirst().flatMap(hexDigit) else { return nil }
            value = value << 4 | UInt16(digit)
        }
        return value
    }

    private static func hexDigit(_ unit: UInt8) -> UInt8? {
        switch unit {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): unit - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): unit - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): unit - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
