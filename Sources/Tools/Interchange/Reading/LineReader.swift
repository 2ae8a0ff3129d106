/// The lines of a source, one at a time, without copying.
struct LineReader {
    private let window: ByteWindow
    private var pending = 0
    /// The number of the last line read, from 1.
    private(set) var number = 0

    init(_ window: ByteWindow) { self.window = window }

    /// Whether the next line that is not blank is in the window, with its line break.
    var hasNext: Bool { window.hasLine(from: pending) }

    /// The next line without its line break; valid until the next call. Nil at the end.
    mutating func next() throws(InterchangeError) -> UnsafeBufferPointer<UInt8>? {
        window.consume(pending)
        pending = 0
        var scanned = 0
        while true {
            if let end = window.firstIndex(of: UInt8(ascii: "\n"), from: scanned) {
                return line(end, consuming: end + 1)
            }
            scanned = window.count
            switch try window.fill() {
            case .grown: continue
            case .ended: return scanned == 0 ? nil : line(scanned, consuming: scanned)
            case .full:
                throw InterchangeError(
                    "line \(number + 1) is longer than \(scanned) bytes")
            }
        }
    }

    private mutating func line(_ count: Int, consuming: Int) -> UnsafeBufferPointer<UInt8> {
        pending = consuming
        number += 1
        return UnsafeBufferPointer(rebasing: window.bytes[..<count])
    }
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
