import Glibc

/// How a peer's answers end.
enum Framing {
    /// One line each; a line break is its last byte and stands nowhere else.
    case line
    /// Redis' RESP 2: one value each.
    case resp
    /// PostgreSQL's protocol 3: messages up to ReadyForQuery.
    case postgres
}

/// Finds the end of one answer in bytes that arrive piece by piece; looks at no byte twice and
/// skips contents.
struct Framer {
    let framing: Framing
    private var seen = 0
    /// RESP values that are still to come.
    private var pending = 1
    private(set) var isFailure = false

    init(_ framing: Framing) { self.framing = framing }

    mutating func reset() {
        seen = 0
        pending = 1
        isFailure = false
    }

    /// Takes so many RESP values for one answer.
    mutating func expect(_ values: Int) { pending = values }

    /// Whether these bytes, which begin with those of the call before, are a whole answer.
    mutating func isComplete(_ bytes: UnsafeRawBufferPointer) -> Bool {
        switch framing {
        case .line:
            guard bytes.last == UInt8(ascii: "\n") else { return false }
            isFailure = bytes.count > Self.failureAt && bytes[Self.failureAt] == UInt8(ascii: "e")
            return true
        case .resp: return isCompleteRESP(bytes)
        case .postgres: return isCompletePostgres(bytes)
        }
    }

    /// Where `error` begins in an answer to the request with id 1, where another has `result`.
    private static let failureAt = #"{"jsonrpc":"2.0","id":1,""#.utf8.count

    private mutating func isCompleteRESP(_ bytes: UnsafeRawBufferPointer) -> Bool {
        while pending > 0 {
            let rest = UnsafeRawBufferPointer(rebasing: bytes[seen...])
            guard let start = rest.baseAddress, let end = memchr(start, 0x0A, rest.count) else {
                return false
            }
            let line = UnsafeRawPointer(end) - start + 1
            switch rest[0] {
            case UInt8(ascii: "$"):
                let length = RESP.number(rest[1..<(line - 2)])
                let total = length < 0 ? line : line + length + 2
                guard total <= rest.count else { return false }
                seen += total
            case UInt8(ascii: "*"):
                pending += max(0, RESP.number(rest[1..<(line - 2)]))
                seen += line
            case UInt8(ascii: "-"):
                isFailure = true
                seen += line
            default: seen += line
            }
            pending -= 1
        }
        return true
    }

    private mutating func isCompletePostgres(_ bytes: UnsafeRawBufferPointer) -> Bool {
        while seen + 5 <= bytes.count {
            let length = bytes.loadUnaligned(fromByteOffset: seen + 1, as: UInt32.self)
            let total = 1 + Int(UInt32(bigEndian: length))
            guard seen + total <= bytes.count else { return false }
            if bytes[seen] == UInt8(ascii: "E") { isFailure = true }
            let isLast = bytes[seen] == UInt8(ascii: "Z")
            seen += total
            if isLast { return true }
        }
        return false
    }
}
