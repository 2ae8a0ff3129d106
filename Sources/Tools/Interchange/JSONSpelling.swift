/// Numbers and booleans as texts spell them.
enum JSONSpelling {
    /// Whether the bytes are exactly a JSON number that binary64 can represent: `-1.50e3` is one;
    /// `007`, `+5`, `.5`, `1e400` and ` 1` are not.
    static func isNumber(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        var at = 0
        if at < bytes.count, bytes[at] == UInt8(ascii: "-") { at += 1 }
        guard at < bytes.count, isDigit(bytes[at]) else { return false }
        if bytes[at] == UInt8(ascii: "0") {
            at += 1
        } else {
            skipDigits(bytes, &at)
        }
        if at < bytes.count, bytes[at] == UInt8(ascii: ".") {
            at += 1
            guard skipDigits(bytes, &at) else { return false }
        }
        var hasExponent = false
        if at < bytes.count, bytes[at] | 0x20 == UInt8(ascii: "e") {
            hasExponent = true
            at += 1
            let isSign = at < bytes.count && (bytes[at] == 0x2B || bytes[at] == 0x2D)
            if isSign { at += 1 }
            guard skipDigits(bytes, &at) else { return false }
        }
        guard at == bytes.count else { return false }
        // Without an exponent, a number needs more than 308 digits to exceed binary64.
        return !hasExponent && at <= 308 || Double(bytes.text).map(\.isFinite) ?? false
    }

    /// `true`, `yes` or `t`, `false`, `no` or `f`, in any case; nil for anything else.
    static func bool(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool? {
        func spells(_ word: StaticString) -> Bool {
            for at in 0..<bytes.count where bytes[at] | 0x20 != word.utf8Start[at] { return false }
            return true
        }
        switch bytes.count {
        case 1: return spells("t") ? true : spells("f") ? false : nil
        case 2: return spells("no") ? false : nil
        case 3: return spells("yes") ? true : nil
        case 4: return spells("true") ? true : nil
        case 5: return spells("false") ? false : nil
        default: return nil
        }
    }

    private static func isDigit(_ byte: UInt8) -> Bool { byte &- 0x30 < 10 }

    @discardableResult
    private static func skipDigits(_ bytes: UnsafeBufferPointer<UInt8>, _ at: inout Int) -> Bool {
        let start = at
        while at < bytes.count, isDigit(bytes[at]) { at += 1 }
        return at > start
    }
}
