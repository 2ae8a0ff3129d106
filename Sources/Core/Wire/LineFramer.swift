#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// Bytes in, lines out. A line that is too long is reported once, and skipped without being stored.
///
///     framer.append(bytes)
///     while let event = framer.next() { … framer.line … }
///
/// A line ends in `\n`; a `\r` before that does not belong to it. Empty lines are ignored. A line
/// without its `\n` waits for more; at most `limit` + 2 bytes of it are kept.
public struct LineFramer {
    /// What comes out: a line, or the refusal of one.
    public enum Event: Equatable {
        /// A line: these bytes of `buffer`, until the next call.
        case line(Range<Int>)
        /// A line longer than the limit begins here; the rest of it will be skipped.
        case tooLong
    }

    /// The bytes that a line's range refers to; `append` may move them.
    public private(set) var buffer: [UInt8] = []
    private let limit: Int
    private var start = 0  // where the line under way begins
    private var scanned = 0  // no newline before here
    private var isSkipping = false

    /// - Parameter limit: the longest line, its line break not counted.
    public init(limit: Int) { self.limit = limit }

    /// Bytes of the unfinished line.
    public var pendingBytes: Int { buffer.count - start }

    /// Whether bytes of a line have come, skipped ones too, but not its end.
    public var isWithinLine: Bool { isSkipping || start < buffer.count }

    /// Takes bytes as they arrive, of any number of lines. O(bytes), amortised.
    public mutating func append(_ bytes: UnsafeRawBufferPointer) {
        if start == buffer.count {
            buffer.removeAll(keepingCapacity: buffer.capacity <= 1 << 17)
            (start, scanned) = (0, 0)
        } else if start > 1 << 16 {
            buffer.removeFirst(start)
            (start, scanned) = (0, scanned - start)
        }
        buffer.append(contentsOf: bytes)
    }

    /// The next line or refusal, or nil if more bytes are needed.
    public mutating func next() -> Event? {
        while true {
            guard let newline = firstNewline() else { return unfinished() }
            let line = start..<newline
            start = newline + 1
            scanned = start
            if isSkipping {
                isSkipping = false
                continue
            }
            let end = line.isEmpty || buffer[newline - 1] != 0x0D ? newline : newline - 1
            if end - line.lowerBound > limit { return .tooLong }
            if end > line.lowerBound { return .line(line.lowerBound..<end) }
        }
    }

    /// Whether a complete line or a refusal is waiting.
    private mutating func unfinished() -> Event? {
        scanned = buffer.count
        if isSkipping {
            start = buffer.count
            return nil
        }
        let pending = buffer.count - start
        // One byte more may be the `\r` of a line that is just short enough.
        guard pending > limit + 1 || (pending == limit + 1 && buffer[buffer.count - 1] != 0x0D)
        else { return nil }
        isSkipping = true
        start = buffer.count
        return .tooLong
    }

    private func firstNewline() -> Int? {
        guard scanned < buffer.count else { return nil }
        return buffer.withUnsafeBytes { bytes in
            let from = bytes.baseAddress! + scanned
            guard let found = memchr(from, 0x0A, bytes.count - scanned) else { return nil }
            return UnsafeRawPointer(found) - bytes.baseAddress!
        }
    }
}
