/// Newline-delimited JSON: one value on each line, blank lines skipped.
struct NDJSONReader: RecordReader {
    private var lines: LineReader

    init(_ window: ByteWindow) throws(InterchangeError) {
        try window.skipByteOrderMark()
        lines = LineReader(window)
    }

    mutating func next() throws(InterchangeError) -> RawRecord? {
        while let line = try lines.next() {
            let text = line.trimmed
            if text.isEmpty || Rejection.isNote(text) { continue }
            if text[0] == UInt8(ascii: "[") {
                let error = RecordError(
                    "expected a JSON object; --format json loads an array of objects")
                return RawRecord(number: lines.number, result: .failure(error), source: Array(text))
            }
            return RawRecord(number: lines.number, result: .success(Array(text)))
        }
        return nil
    }

    /// Whether the next line is in memory, with its line break.
    var hasLine: Bool { lines.hasNext }
}
