import Glibc

/// The part of a source that a reader examines: a buffer that slides over the bytes.
///
/// Unconsumed bytes stay together, so a record is always one contiguous range. The buffer grows
/// only for a record larger than itself, and for what has to be kept of a pipe.
///
/// Invariant: `0 <= start <= end <= capacity`; the bytes `0..<end` are initialised.
final class ByteWindow {
    let source: ByteSource
    private var base: UnsafeMutablePointer<UInt8>
    private var capacity: Int
    /// Where `base` is in the text.
    private var origin = 0
    private var start = 0
    private var end = 0
    /// Whether the source has no bytes beyond the window.
    private(set) var isAtEnd = false
    /// From where in the text on bytes are kept; nil: only what is not consumed.
    private var kept: Int?
    private let maximumBytes: Int
    private let initialBytes: Int
    private var encoding = TextEncoding.utf8
    /// Turns the source's bytes into UTF-8; nil if they are.
    private var decoder: TextDecoder?
    /// Decoded bytes that the window had no room for.
    private var decoded: ArraySlice<UInt8> = []

    init(_ source: ByteSource, maximumBytes: Int) {
        self.source = source
        self.maximumBytes = maximumBytes
        initialBytes = min(262_144, maximumBytes)
        capacity = initialBytes
        base = .allocate(capacity: capacity)
    }

    deinit { base.deallocate() }

    /// The bytes not consumed yet; valid until the next `fill`.
    var bytes: UnsafeBufferPointer<UInt8> {
        UnsafeBufferPointer(start: base + start, count: end - start)
    }

    var count: Int { end - start }

    /// The first bytes that are not consumed.
    func prefix(_ count: Int) -> UnsafeBufferPointer<UInt8> {
        UnsafeBufferPointer(rebasing: bytes.prefix(count))
    }

    func consume(_ count: Int) {
        precondition(count <= end - start, "consumed \(count) of \(end - start) bytes")
        start += count
    }

    enum Growth {
        case grown
        /// The source has ended.
        case ended
        /// The unconsumed bytes have reached the size limit of a record.
        case full
    }

    /// Appends bytes of the source to the window.
    func fill() throws(InterchangeError) -> Growth {
        if isAtEnd { return .ended }
        guard count < maximumBytes else { return .full }
        discard()
        if end == capacity { resize(to: capacity * 2) }
        let room = UnsafeMutableRawBufferPointer(start: base + end, count: capacity - end)
        let count = decoder == nil ? try source.read(into: room) : try readDecoded(into: room)
        end += count
        if count == 0 { isAtEnd = true }
        return count == 0 ? .ended : .grown
    }

    /// Appends bytes for who only looks at them; false if there are none. A fault of the source is
    /// met again by who reads on.
    func grow() -> Bool { (try? fill()) == .grown }

    /// Moves what is kept to the beginning of the buffer.
    private func discard() {
        let done = min(start, kept.map { $0 - origin } ?? start)
        if done > 0 {
            memmove(base, base + done, end - done)
            (origin, start, end) = (origin + done, start - done, end - done)
        }
        if kept == nil, capacity > 4 * initialBytes, end < initialBytes {
            resize(to: initialBytes)
        }
    }

    private func resize(to size: Int) {
        let other = UnsafeMutablePointer<UInt8>.allocate(capacity: size)
        memcpy(other, base, end)
        base.deallocate()
        (base, capacity) = (other, size)
    }

    /// All bytes up to the end, consumed.
    ///
    /// - Throws: also when there are more than `limit` bytes.
    func rest(atMost limit: Int) throws(InterchangeError) -> [UInt8] {
        let head = Array(bytes)
        consume(count)
        return try source.all(atMost: limit, behind: head)
    }

    // MARK: Going back

    /// Reads ahead from here: what `body` consumes is not consumed afterwards.
    ///
    /// Of a pipe all of it is in memory meanwhile; a file is read again.
    func lookAhead(_ body: () throws(InterchangeError) -> Void) throws(InterchangeError) {
        let position = origin + start
        if source.totalBytes == nil { kept = position }
        defer { kept = nil }
        try body()
        if position >= origin {
            start = position - origin
            return
        }
        source.rewind()
        decoder = decoder.map { _ in TextDecoder(encoding) }
        (origin, start, end, isAtEnd, decoded) = (0, 0, 0, false, [])
        try skip(position)
    }

    /// Bytes that have been consumed of the whole text.
    var position: Int { origin + start }

    /// Consumes so many bytes, or all there are.
    func skip(_ count: Int) throws(InterchangeError) {
        var rest = count
        while true {
            let part = min(rest, self.count)
            consume(part)
            rest -= part
            guard rest > 0, try fill() == .grown else { return }
        }
    }

    // MARK: Text

    /// Takes all bytes, those in the window too, for text of another encoding than UTF-8.
    func decode(_ encoding: TextEncoding) throws(InterchangeError) {
        guard encoding != .utf8 else { return }
        var decoder = TextDecoder(encoding)
        decoded = decoder.utf8(Array(bytes))[...]
        (origin, start, end, isAtEnd) = (0, 0, 0, false)
        (self.encoding, self.decoder) = (encoding, decoder)
        _ = try fill()
    }

    private func readDecoded(
        into room: UnsafeMutableRawBufferPointer
    ) throws(InterchangeError) -> Int {
        while decoded.isEmpty {
            let chunk = UnsafeMutableRawBufferPointer.allocate(byteCount: 65_536, alignment: 1)
            defer { chunk.deallocate() }
            let count = try source.read(into: chunk)
            if count == 0 { return 0 }
            decoded = decoder!.utf8(Array(chunk[..<count]))[...]
        }
        let count = min(room.count, decoded.count)
        room.copyBytes(from: decoded.prefix(count))
        decoded = decoded.dropFirst(count)
        return count
    }

    /// Drops a byte order mark at the window's start.
    func skipByteOrderMark() throws(InterchangeError) {
        while count < 3, try fill() == .grown {}
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { consume(3) }
    }

    /// Consumes white space, and bytes of one more value; false if nothing else follows.
    func skipSpace(and other: UInt8 = 0x20) throws(InterchangeError) -> Bool {
        while true {
            let space = bytes.prefix { UnsafeBufferPointer.isSpace($0) || $0 == other }.count
            consume(space)
            if count > 0 { return true }
            if try fill() == .ended { return false }
        }
    }

    // MARK: Lines

    /// The length of the next line with its line break, all of which then is in the window; nil at
    /// the end. A line that is longer than a record may be ends there.
    func line() throws(InterchangeError) -> Int? {
        var scanned = 0
        while true {
            if let end = firstIndex(of: UInt8(ascii: "\n"), from: scanned) { return end + 1 }
            scanned = count
            if try fill() != .grown { return scanned == 0 ? nil : scanned }
        }
    }

    /// The position of the first such byte at or after `from`, counted from the window's start.
    func firstIndex(of byte: UInt8, from: Int = 0) -> Int? {
        guard from < count, let found = memchr(base + start + from, Int32(byte), count - from)
        else { return nil }
        return UnsafeRawPointer(found) - UnsafeRawPointer(base + start)
    }

    /// Whether a line that is not blank is in the window, with its line break.
    var hasLine: Bool {
        var start = 0
        while let end = firstIndex(of: UInt8(ascii: "\n"), from: start) {
            if !UnsafeBufferPointer(rebasing: bytes[start..<end]).trimmed.isEmpty { return true }
            start = end + 1
        }
        return false
    }

    /// Whether there is a line, and nobody writes more into the pipe for a while.
    var hasAll: Bool { hasLine && source.isDry(afterMilliseconds: SampleLimit.patience) }
}

extension UnsafeBufferPointer<UInt8> {
    /// The bytes without JSON white space at both ends.
    var trimmed: UnsafeBufferPointer<UInt8> {
        var first = startIndex
        var last = endIndex
        while first < last, Self.isSpace(self[first]) { first += 1 }
        while last > first, Self.isSpace(self[last - 1]) { last -= 1 }
        return UnsafeBufferPointer(rebasing: self[first..<last])
    }

    static func isSpace(_ byte: UInt8) -> Bool {
        byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09
    }

    var text: String { String(decoding: self, as: UTF8.self) }
}
