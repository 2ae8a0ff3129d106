import Glibc

/// The part of a source that a reader examines: a buffer that slides over the bytes.
///
/// Unconsumed bytes stay together, so a record is always one contiguous range. The buffer grows
/// only for a record larger than itself.
///
/// Invariant: `0 <= start <= end <= capacity`; the bytes `start..<end` are initialised.
final class ByteWindow {
    let source: ByteSource
    private var base: UnsafeMutablePointer<UInt8>
    private var capacity: Int
    private var start = 0
    private var end = 0
    /// Whether the source has no bytes beyond the window.
    private(set) var isAtEnd = false
    private let maximumBytes: Int
    /// Turns the source's bytes into UTF-8; nil if they are.
    private var decoder: TextDecoder?
    /// Decoded bytes that the window had no room for.
    private var decoded: ArraySlice<UInt8> = []

    init(_ source: ByteSource, maximumBytes: Int, initialBytes: Int = 1_048_576) {
        self.source = source
        self.maximumBytes = maximumBytes
        capacity = min(initialBytes, maximumBytes)
        base = .allocate(capacity: capacity)
    }

    deinit { base.deallocate() }

    /// The bytes not consumed yet; valid until the next `fill`.
    var bytes: UnsafeBufferPointer<UInt8> {
        UnsafeBufferPointer(start: base + start, count: end - start)
    }

    var count: Int { end - start }

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
        if start > 0 {
            memmove(base, base + start, end - start)
            end -= start
            start = 0
        }
        if end == capacity {
            guard capacity < maximumBytes else { return .full }
            enlarge(to: min(capacity * 2, maximumBytes))
        }
        let room = UnsafeMutableRawBufferPointer(start: base + end, count: capacity - end)
        let count = decoder == nil ? try source.read(into: room) : try readDecoded(into: room)
        end += count
        if count == 0 { isAtEnd = true }
        return count == 0 ? .ended : .grown
    }

    /// All bytes up to the end, consumed.
    ///
    /// - Throws: also when there are more than `limit` bytes.
    func rest(atMost limit: Int) throws(InterchangeError) -> [UInt8] {
        let head = Array(bytes)
        consume(count)
        return try source.all(atMost: limit, behind: head)
    }

    /// Takes all bytes, those in the window too, for text of another encoding than UTF-8.
    func decode(_ encoding: TextEncoding) throws(InterchangeError) {
        guard encoding != .utf8 else { return }
        var decoder = TextDecoder(encoding)
        decoded = decoder.utf8(Array(bytes))[...]
        (start, end) = (0, 0)
        self.decoder = decoder
        isAtEnd = false
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

    /// The position of the first such byte at or after `from`, counted from the window's start.
    func firstIndex(of byte: UInt8, from: Int = 0) -> Int? {
        guard from < count, let found = memchr(base + start + from, Int32(byte), count - from)
        else {
            return nil
        }
        return UnsafeRawPointer(found) - UnsafeRawPointer(base + start)
    }

    /// Whether a line that is not blank, with its line break, lies behind an offset.
    func hasLine(from offset: Int = 0) -> Bool {
        var start = offset
        while let end = firstIndex(of: UInt8(ascii: "\n"), from: start) {
            if !UnsafeBufferPointer(rebasing: bytes[start..<end]).trimmed.isEmpty { return true }
            start = end + 1
        }
        return false
    }

    private func enlarge(to size: Int) {
        let larger = UnsafeMutablePointer<UInt8>.allocate(capacity: size)
        memcpy(larger, base, end)
        base.deallocate()
        base = larger
        capacity = size
    }
}
