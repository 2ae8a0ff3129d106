/// Newline-delimited JSON: one value on each line, blank lines skipped.
struct NDJSONReader: RecordReader {
    private let window: ByteWindow
    private var line = 0

    init(_ window: ByteWindow) { self.window = window }

    mutating func next() throws(InterchangeError) -> RawRecord? {
        while let bytes = try window.line() {
            line += 1
            guard window.isAtEnd || window.bytes[bytes - 1] == UInt8(ascii: "\n") else {
                throw InterchangeError("line \(line) is longer than \(bytes) bytes")
            }
            defer { window.consume(bytes) }
            let text = window.prefix(bytes).trimmed
            if text.isEmpty || Rejection.isNote(text) { continue }
            guard text[0] != UInt8(ascii: "[") else {
                let error = RecordError(
                    "expected a JSON object; --format json loads an array of objects")
                return RawRecord(number: line, result: .failure(error), source: Array(text))
            }
            return RawRecord(number: line, result: .success(Array(text)))
        }
        return nil
    }

    var hasLine: Bool { window.hasLine }
}
