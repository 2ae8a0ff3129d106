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

/// Finds the end of one answer, or of several, in bytes that arrive piece by piece; looks at no byte
/// twice and skips contents.
struct Framer {
    let framing: Framing
    private var seen = 0
    /// Answers that are still to come; of Redis, values.
    private var pending = 1
    private(set) var isFailure = false

    init(_ framing: Framing) { self.framing = framing }

    mutating func reset() {
        seen = 0
        pending = 1
        isFailure = false
    }

    /// Waits for so many answers.
    mutating func expect(_ answers: Int) { pending = answers }

    /// Whether these bytes, which begin with those of the call before, are all that was expected.
    mutating func isComplete(_ bytes: UnsafeRawBufferPointer) -> Bool {
        switch framing {
        case .line: return isCompleteLine(bytes)
        case .resp: return isCompleteRESP(bytes)
        case .postgres: return isCompletePostgres(bytes)
        }
    }

    /// Where `error` begins in an answer to the request with id 1, where another has `result`.
    private static let failureAt = #"{"jsonrpc":"2.0","id":1,""#.utf8.count

    private mutating func isCompleteLine(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard bytes.last == UInt8(ascii: "\n") else { return false }
        while pending > 1, let start = bytes.baseAddress {
            guard let end = memchr(start + seen, 0x0A, bytes.count - seen) else { return false }
            noteFailure(in: bytes[seen...])
            seen = UnsafeRawPointer(end) - start + 1
            pending -= 1
        }
        guard seen < bytes.count else { return false }
        noteFailure(in: bytes[seen...])
        return true
    }

    private mutating func noteFailure(in line: Slice<UnsafeRawBufferPointer>) {
        let place = line.startIndex + Self.failureAt
        if place < line.endIndex, line[place] == UInt8(ascii: "e") { isFailure = true }
    }

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
            if isLast { pending -= 1 }
            if pending == 0 { return true }
        }
        return false
    }
}
