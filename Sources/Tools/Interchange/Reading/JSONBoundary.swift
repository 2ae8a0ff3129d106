/// Finds where a JSON value ends, in bytes that come piece by piece.
///
/// It tracks strings and brackets and checks nothing else; the parser decides whether a value is
/// JSON.
struct JSONBoundary {
    /// Containers that are open.
    private var depth: Int
    private var hasBegun: Bool
    private var isInString = false
    private var isEscaped = false

    /// - Parameter depth: 0 before a value, 1 inside of a container whose end is looked for.
    init(depth: Int = 0) { (self.depth, hasBegun) = (depth, depth > 0) }

    /// The offset behind the value; nil where it goes on behind these bytes, of which those from
    /// `start` on have not been seen. A scalar ends at the byte behind it.
    mutating func end(in bytes: UnsafeBufferPointer<UInt8>, from start: Int) -> Int? {
        var at = start
        while at < bytes.count {
            if isInString {
                guard let close = endOfString(bytes, at) else { return nil }
                at = close
                if depth == 0 { return at }
                continue
            }
            let isDelimiter: Bool
            switch bytes[at] {
            case UInt8(ascii: "\""): (isInString, isDelimiter) = (true, false)
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                depth += 1
                isDelimiter = false
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                depth -= 1
                if depth == 0 { return at + 1 }
                isDelimiter = depth < 0
            case UInt8(ascii: ","), UInt8(ascii: ":"): isDelimiter = depth == 0
            case let byte: isDelimiter = depth == 0 && UnsafeBufferPointer.isSpace(byte)
            }
            // Where there is no value, the delimiter is taken for one.
            if isDelimiter { return hasBegun ? at : at + 1 }
            hasBegun = true
            at += 1
        }
        return nil
    }

    private mutating func endOfString(_ bytes: UnsafeBufferPointer<UInt8>, _ start: Int) -> Int? {
        var at = start
        while at < bytes.count {
            let byte = bytes[at]
            at += 1
            if isEscaped {
                isEscaped = false
            } else if byte == UInt8(ascii: "\\") {
                isEscaped = true
            } else if byte == UInt8(ascii: "\"") {
                isInString = false
                return at
            }
        }
        return nil
    }

    /// The offset behind the value that begins at `start`; nil where more bytes are needed.
    static func end(of start: Int, in bytes: UnsafeBufferPointer<UInt8>) -> Int? {
        var boundary = JSONBoundary()
        return boundary.end(in: bytes, from: start)
    }
}
