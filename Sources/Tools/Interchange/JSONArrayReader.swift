import JSONText

/// Reads one array of JSON objects, of any size and on any number of lines, element by element.
public struct JSONArrayReader: RecordReader {
    private let window: ByteWindow
    private let validator: RecordValidator
    private var elements: ArrayElements
    private var position = Position.before

    private enum Position { case before, inside, behind }

    init(_ window: ByteWindow, options: ReadingOptions) throws(InterchangeError) {
        self.window = window
        validator = RecordValidator(limits: options.limits)
        elements = ArrayElements(window, of: "the array", each: "element")
        try window.skipByteOrderMark()
    }

    public mutating func next() throws(InterchangeError) -> Record? {
        if position == .before { try open() }
        guard position == .inside else { return nil }
        guard let bytes = try elements.next() else {
            window.consume(1)
            position = .behind
            guard try skipSpaceToEnd() else {
                throw InterchangeError("there is text behind the array's closing bracket")
            }
            return nil
        }
        defer { window.consume(bytes) }
        return Record(number: elements.count, result: object(bytes))
    }

    /// Moves past the opening bracket; an empty file has no elements.
    private mutating func open() throws(InterchangeError) {
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

    /// Skips white space; true if nothing else follows.
    private func skipSpaceToEnd() throws(InterchangeError) -> Bool {
        while true {
            let space = window.bytes.prefix { UnsafeBufferPointer.isSpace($0) }.count
            window.consume(space)
            if window.count > 0 { return false }
            if try window.fill() == .ended { return true }
        }
    }

    private func object(_ bytes: Int) -> Result<[UInt8], RecordError> {
        let text = UnsafeBufferPointer(rebasing: window.bytes[..<bytes])
        do throws(RecordError) {
            _ = try validator.validate(text)
            return .success(minifiedJSON(text))
        } catch {
            return .failure(error)
        }
    }
}
