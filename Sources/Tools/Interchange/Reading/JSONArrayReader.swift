import JSONText

/// Reads one array of JSON objects, of any size and on any number of lines, element by element.
///
/// The array is the whole text, or it stands somewhere inside of the one object that the text is.
struct JSONArrayReader: RecordReader {
    private let window: ByteWindow
    private var elements: ArrayElements
    private var position = Position.before
    /// Bytes in front of the array's bracket; nil: it is the first of the text.
    private let offset: Int?

    private enum Position { case before, inside, behind }

    init(_ window: ByteWindow, offset: Int? = nil) throws(InterchangeError) {
        self.window = window
        self.offset = offset
        elements = ArrayElements(window, of: "the array", each: "element")
        if offset == nil { try window.skipByteOrderMark() }
    }

    mutating func next() throws(InterchangeError) -> RawRecord? {
        if position == .before { try open() }
        guard position == .inside else { return nil }
        guard let bytes = try elements.next() else {
            window.consume(1)
            position = .behind
            if offset == nil, try !skipSpaceToEnd() {
                throw InterchangeError("there is text behind the array's closing bracket")
            }
            return nil
        }
        defer { window.consume(bytes) }
        return RawRecord(
            number: elements.count, result: .success(Array(window.bytes[..<bytes])))
    }

    /// Moves past the opening bracket; an empty file has no elements.
    private mutating func open() throws(InterchangeError) {
        try skip(offset ?? 0)
        if try skipSpaceToEnd() {
            position = .behind
            return
        }
        guard window.bytes[0] == UInt8(ascii: "[") else {
            throw InterchangeError("expected an array of JSON objects: \"[\" at the beginning")
        }
        window.consume(1)
        position = .inside
    }

    private func skip(_ count: Int) throws(InterchangeError) {
        var rest = count
        while rest > 0 {
            let part = min(rest, window.count)
            window.consume(part)
            rest -= part
            if rest > 0, try window.fill() == .ended { return }
        }
    }

    /// Skips white space; true if nothing else follows.
    private func skipSpaceToEnd() throws(InterchangeError) -> Bool {
        while true {
            let space = window.bytes.prefix { UnsafeBufferPointer.isSpace($0) }.count
            window.consume(space)
            if window.count > 0 { return false }
            if try window.fill() == .ended { return true }
        }
    }
}
