/// Finds where JSON values end in a run of bytes, without parsing them.
///
/// It tracks strings and brackets and checks nothing else; the parser decides whether a value is
/// JSON. Nil always means that more bytes are needed.
struct JSONBoundary {
    let bytes: UnsafeBufferPointer<UInt8>

    /// The first offset at or after `start` that is not white space.
    func skipSpace(from start: Int) -> Int? {
        var at = start
        while at < bytes.count, UnsafeBufferPointer.isSpace(bytes[at]) { at += 1 }
        return at < bytes.count ? at : nil
    }

    /// The offset after the value that begins at `start`.
    func end(of start: Int) -> Int? {
        switch bytes[start] {
        case UInt8(ascii: "\""): return endOfString(from: start + 1)
        case UInt8(ascii: "{"), UInt8(ascii: "["): return endOfContainer(from: start + 1)
        default:
            var at = start
            while at < bytes.count, !Self.endsScalar(bytes[at]) { at += 1 }
            return at < bytes.count ? max(at, start + 1) : nil
        }
    }

    /// The offset after the bracket that closes the container around `start`.
    func endOfContainer(from start: Int) -> Int? {
        var at = start
        var depth = 1
        while at < bytes.count {
            switch bytes[at] {
            case UInt8(ascii: "\""):
                guard let end = endOfString(from: at + 1) else { return nil }
                at = end
                continue
            case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"): depth -= 1
            default: break
            }
            at += 1
            if depth == 0 { return at }
        }
        return nil
    }

    /// The offset after the closing quote of a string whose text begins at `start`.
    private func endOfString(from start: Int) -> Int? {
        var at = start
        while at < bytes.count {
            switch bytes[at] {
            case UInt8(ascii: "\""): return at + 1
            case UInt8(ascii: "\\"): at += 2
            default: at += 1
            }
        }
        return nil
    }

    private static func endsScalar(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: ","), UInt8(ascii: "]"), UInt8(ascii: "}"), UInt8(ascii: ":"): true
        default: UnsafeBufferPointer.isSpace(byte)
        }
    }
}
