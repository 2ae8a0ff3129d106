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

    init(_ window: ByteWindow, offset: Int? = nil) {
        (self.window, self.offset) = (window, offset)
        elements = ArrayElements(window, of: "the array", each: "element")
    }

    mutating func next() throws(InterchangeError) -> RawRecord? {
        if position == .before { try open() }
        guard position == .inside else { return nil }
        guard let bytes = try elements.next() else {
            window.consume(1)
            position = .behind
            if offset == nil, try window.skipSpace() {
                throw InterchangeError("there is text behind the array's closing bracket")
            }
            return nil
        }
        defer { window.consume(bytes) }
        return RawRecord(
            number: elements.count, result: .success(Array(window.prefix(bytes))))
    }

    /// Moves past the opening bracket; an empty file has no elements.
    private mutating func open() throws(InterchangeError) {
        try window.skip(offset ?? 0)
        guard try window.skipSpace() else {
            position = .behind
            return
        }
        guard window.bytes[0] == UInt8(ascii: "[") else {
            throw InterchangeError("expected an array of JSON objects: \"[\" at the beginning")
        }
        window.consume(1)
        position = .inside
    }
}
