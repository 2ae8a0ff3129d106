import JSONText
import Objects

/// Comma-separated values (RFC 4180) with a header row; lines end in CRLF.
///
/// Strings are written as they are, numbers as spelled, arrays and objects as JSON text; null and
/// missing fields are empty cells. A column is a field path, so `location.lat` is a point's half.
struct CSVWriter: ObjectWriter {
    /// Nil: taken from the objects, which are held until the end.
    private let columns: [String]?
    private let paths: [FieldPath]
    private let parser = ObjectParser()
    private var hasHeader = false
    private var held: [[UInt8]] = []
    private var collected = CSVColumns()

    init(columns: [String]?) {
        self.columns = columns
        paths = (columns ?? []).map { FieldPath($0) }
    }

    mutating func write(_ object: [UInt8], to output: inout [UInt8]) throws(InterchangeError) {
        guard let columns else {
            try collected.add(object)
            held.append(object)
            return
        }
        if !hasHeader { Self.writeHeader(columns, to: &output) }
        hasHeader = true
        Self.writeRow(try parser.parse(object), paths, to: &output)
    }

    mutating func finish(to output: inout [UInt8]) throws(InterchangeError) {
        if hasHeader { return }
        let names = columns ?? collected.names
        if names.isEmpty { return }
        Self.writeHeader(names, to: &output)
        let paths = names.map { FieldPath($0) }
        for object in held { Self.writeRow(try parser.parse(object), paths, to: &output) }
        held = []
    }

    private static func writeHeader(_ names: [String], to output: inout [UInt8]) {
        for (index, name) in zip(0..., names) {
            if index > 0 { output.append(UInt8(ascii: ",")) }
            Array(name.utf8).withUnsafeBufferPointer { appendCell($0, to: &output) }
        }
        output += "\r\n".utf8
    }

    private static func writeRow(
        _ object: JSONView, _ paths: [FieldPath], to output: inout [UInt8]
    ) {
        let start = output.count
        for (index, path) in zip(0..., paths) {
            if index > 0 { output.append(UInt8(ascii: ",")) }
            guard let value = path.value(in: object), value.kind != .null else { continue }
            appendCell(value.utf8 ?? value.text, to: &output)
        }
        // A line with nothing on it would be read as no record.
        if output.count == start { output += "\"\"".utf8 }
        output += "\r\n".utf8
    }

    private static func appendCell(
        _ bytes: UnsafeBufferPointer<UInt8>, to output: inout [UInt8]
    ) {
        let quote = UInt8(ascii: "\"")
        let needsQuotes = bytes.contains {
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
