/// Newline-delimited JSON: one object on each line, blank lines skipped.
///
/// The text of an object is passed on unchanged, without surrounding white space.
public struct NDJSONReader: RecordReader {
    private var lines: LineReader
    private let validator: RecordValidator
    private let window: ByteWindow

    init(_ window: ByteWindow, options: ReadingOptions) throws(InterchangeError) {
        try window.skipByteOrderMark()
        self.window = window
        lines = LineReader(window)
        validator = RecordValidator(limits: options.limits)
    }

    public mutating func next() throws(InterchangeError) -> Record? {
        while let line = try lines.next() {
            let text = line.trimmed
            if text.isEmpty { continue }
            do throws(RecordError) {
                _ = try validator.validate(text)
                return Record(number: lines.number, result: .success(Array(text)))
            } catch {
                let isArray = text[0] == UInt8(ascii: "[")
                let error = isArray ? Self.hinting(error) : error
                return Record(number: lines.number, result: .failure(error))
            }
        }
        return nil
    }

    /// Whether the next line is in memory, with its line break.
    public var hasLine: Bool { lines.hasNext }

    private static func hinting(_ error: RecordError) -> RecordError {
        RecordError(
            error.message + "; --format json loads an array of objects", path: error.path)
    }
}
