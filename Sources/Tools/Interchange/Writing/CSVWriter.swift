import JSONText
import Objects

/// Comma-separated values (RFC 4180) with a header row; lines end in CRLF.
///
/// Strings are written unchanged, numbers as spelled, arrays and objects as JSON text; null and
/// missing fields are empty cells. A requested column is a field path, so `location.lat` is half of
/// a point.
struct CSVWriter: ObjectWriter {
    /// Whether the columns come from the objects, which are then kept until the end.
    private let collects: Bool
    private var columns: CSVColumns
    private let parser = ObjectParser()
    private let form: PlaceForm
    private let isForTerminal: Bool
    private var hasHeader = false
    private var buffered: [[UInt8]] = []

    /// - Parameters:
    ///   - columns: nil takes them from the objects.
    ///   - isForTerminal: whether characters that control a terminal are replaced.
    init(columns: [String]?, _ form: PlaceForm = .columns, isForTerminal: Bool = false) {
        self.form = form
        self.isForTerminal = isForTerminal
        collects = columns == nil
        self.columns = columns.map(CSVColumns.init(paths:)) ?? CSVColumns(form)
    }

    mutating func write(_ object: [UInt8], to output: inout [UInt8]) throws(InterchangeError) {
        if collects {
            try columns.add(object)
            buffered.append(object)
            return
        }
        writeHeader(to: &output)
        writeRow(try parser.parse(object), to: &output)
    }

    mutating func finish(to output: inout [UInt8]) throws(InterchangeError) {
        writeHeader(to: &output)
        for object in buffered { writeRow(try parser.parse(object), to: &output) }
        buffered = []
    }

    private mutating func writeHeader(to output: inout [UInt8]) {
        guard !hasHeader, !columns.names.isEmpty else { return }
        hasHeader = true
        for (index, name) in zip(0..., columns.names) {
            if index > 0 { output.append(UInt8(ascii: ",")) }
            // In quotes, because a column without a name is an error.
            if name.isEmpty { output += "\"\"".utf8 }
            Array(name.utf8).withUnsafeBufferPointer { appendCell($0, to: &output) }
        }
        output += "\r\n".utf8
    }

    private func writeRow(_ object: JSONView, to output: inout [UInt8]) {
        let start = output.count
        for (index, value) in zip(0..., columns.cells(of: object)) {
            if index > 0 { output.append(UInt8(ascii: ",")) }
            guard let value, value.kind != .null else { continue }
            if form != .columns, GeoPoint.coordinate(of: value) != nil {
                appendPlace(value, to: &output)
            } else {
                let isText = value.kind == .string
                appendCell(
                    value.utf8 ?? value.text, isQuoted: isText && Self.isAmbiguous(value.utf8!),
                    to: &output)
            }
        }
        // A blank line would not be read as a record.
        if output.count == start { output += "\"\"".utf8 }
        output += "\r\n".utf8
    }

    private func appendPlace(_ point: JSONView, to output: inout [UInt8]) {
        let (x, y) = (point["lon"]!.text.text, point["lat"]!.text.text)
        let text =
            form == .wkt
            ? "POINT(\(x) \(y))" : "{\"type\":\"Point\",\"coordinates\":[\(x),\(y)]}"
        Array(text.utf8).withUnsafeBufferPointer { appendCell($0, to: &output) }
    }

    /// Whether a text without quotes would be read as something else.
    private static func isAmbiguous(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
        guard let first = text.first, let last = text.last else { return false }
        return first == 0x20 || first == 0x09 || last == 0x20 || last == 0x09
            || first == UInt8(ascii: "#") || JSONSpelling.isNumber(text)
            || JSONSpelling.bool(text) != nil || JSONSpelling.withPoint(text) != nil
    }

    private func appendCell(
        _ bytes: UnsafeBufferPointer<UInt8>, isQuoted: Bool = false, to output: inout [UInt8]
    ) {
        guard isForTerminal else { return Self.append(bytes, isQuoted, to: &output) }
        Array(TableCell.printable(String(decoding: bytes, as: UTF8.self)).utf8)
            .withUnsafeBufferPointer { Self.append($0, isQuoted, to: &output) }
    }

    private static func append(
        _ bytes: UnsafeBufferPointer<UInt8>, _ isQuoted: Bool, to output: inout [UInt8]
    ) {
        let quote = UInt8(ascii: "\"")
        let needsQuotes =
            isQuoted
            || bytes.contains {
                $0 == quote || $0 == UInt8(ascii: ",") || $0 == 0x0A || $0 == 0x0D
            }
        guard needsQuotes else { return output.append(contentsOf: bytes) }
        output.append(quote)
        for byte in bytes {
            if byte == quote { output.append(quote) }
            output.append(byte)
        }
        output.append(quote)
    }
}
