import CJSONNodes

/// A number at the beginning of a text, by the grammar of RFC 8259.
struct NumberToken {
    let text: UnsafeBufferPointer<UInt8>
    /// Whether it has neither fraction nor exponent.
    private let isInteger: Bool

    /// Nil where the text begins with no number.
    init?(_ source: Slice<UnsafeBufferPointer<UInt8>>) {
        var rest = source
        if rest.first == UInt8(ascii: "-") { rest.removeFirst() }
        // A zero stands alone.
        if rest.first == UInt8(ascii: "0") {
            rest.removeFirst()
        } else if !Self.passDigits(&rest) {
            return nil
        }
        let whole = rest.startIndex
        if rest.first == UInt8(ascii: ".") {
            rest.removeFirst()
            guard Self.passDigits(&rest) else { return nil }
        }
        if let unit = rest.first, unit | 0x20 == UInt8(ascii: "e") {
            rest.removeFirst()
            if let sign = rest.first, sign == UInt8(ascii: "+") || sign == UInt8(ascii: "-") {
                rest.removeFirst()
            }
            guard Self.passDigits(&rest) else { return nil }
        }
        isInteger = rest.startIndex == whole
        text = UnsafeBufferPointer(rebasing: source[..<rest.startIndex])
    }

    /// Whether there was a digit at least.
    private static func passDigits(_ rest: inout Slice<UnsafeBufferPointer<UInt8>>) -> Bool {
        let digits = rest.prefix { UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }
        rest = rest[digits.endIndex...]
        return !digits.isEmpty
    }

    /// Integers keep 64 bits, anything else is the nearest binary64.
    func store(in node: inout gb_json_node) {
        let text = String(decoding: text, as: UTF8.self)
        if isInteger, let integer = Int64(text) {
            node.kind = gb_json_int64
            node.payload.integer = integer
        } else if isInteger, let integer = UInt64(text) {
            node.kind = gb_json_uint64
            node.payload.unsigned_integer = integer
        } else {
            let number = Double(text)!
            node.kind = number.isFinite ? gb_json_double : gb_json_huge
            node.payload.number = number
        }
    }
}
