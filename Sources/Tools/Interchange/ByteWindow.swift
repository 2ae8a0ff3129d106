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
        let count = try source.read(
            into: UnsafeMutableRawBufferPointer(start: base + end, count: capacity - end))
        end += count
        if count == 0 { isAtEnd = true }
        return count == 0 ? .ended : .grown
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
