import Objects

/// Converts the cells of one record to JSON text, by the types of the columns.
struct CSVRecordBuilder {
    private let header: CSVHeader
    private let empty: TableOptions.EmptyCells
    private var output: [UInt8] = []

    init(header: CSVHeader, empty: TableOptions.EmptyCells) {
        (self.header, self.empty) = (header, empty)
    }

    /// - Parameter record: the bytes to which the cells' ranges refer.
    mutating func object(
        _ cells: [CSVScanner.Cell], of record: UnsafeBufferPointer<UInt8>
    ) throws(RecordError) -> [UInt8] {
        guard cells.count == header.columns.count else {
            throw RecordError(
                "expected \(header.columns.count) cells as in the header, found \(cells.count)")
        }
        guard Self.isUTF8(record) else {
            throw RecordError(
                "the text is not valid UTF-8; --encoding windows-1252 or utf-16 says what it is")
        }
        output = []
        output.reserveCapacity(record.count * 2 + 128)
        output.append(UInt8(ascii: "{"))
        for field in header.fields { _ = try append(field, cells, record) }
        output.append(UInt8(ascii: "}"))
        return output
    }

    /// False if nothing was written.
    private mutating func append(
        _ field: CSVHeader.Field, _ cells: [CSVScanner.Cell], _ record: UnsafeBufferPointer<UInt8>
    ) throws(RecordError) -> Bool {
        switch field {
        case .column(let index, let key): return try append(index, key, cells[index], record)
        case .group(let key, let fields):
            let before = output.count
            appendKey(key)
            output.append(UInt8(ascii: "{"))
            var isEmpty = true
            for field in fields where try append(field, cells, record) { isEmpty = false }
            output.append(UInt8(ascii: "}"))
            if isEmpty { output.removeSubrange(before...) }
            return !isEmpty
        }
    }

    private mutating func append(
        _ index: Int, _ key: [UInt8], _ cell: CSVScanner.Cell,
        _ record: UnsafeBufferPointer<UInt8>
    ) throws(RecordError) -> Bool {
        if cell.range.isEmpty {
            switch empty {
            case .missing: return false
            case .null:
                appendKey(key)
                output.append(contentsOf: "null".utf8)
            case .text:
                appendKey(key)
                output.append(contentsOf: "\"\"".utf8)
            }
            return true
        }
        appendKey(key)
        try appendValue(header.columns[index], cell, record)
        return true
    }

    private mutating func appendKey(_ key: [UInt8]) {
        if output.last != UInt8(ascii: "{") { output.append(UInt8(ascii: ",")) }
        output.append(contentsOf: key)
    }

    private mutating func appendValue(
        _ column: CSVHeader.Column, _ cell: CSVScanner.Cell, _ record: UnsafeBufferPointer<UInt8>
    ) throws(RecordError) {
        let bytes = UnsafeBufferPointer(rebasing: record[cell.range])
        switch column.type {
        case .text:
            if cell.hasDoubledQuotes {
                JSONSpelling.appendString(cell.text(in: record), to: &output)
            } else {
                JSONSpelling.appendString(bytes, to: &output)
            }
            return
        case .number(let comma):
            if JSONSpelling.isNumber(bytes) {
                output.append(contentsOf: bytes)
                return
            }
            if comma, let number = JSONSpelling.withPoint(bytes) {
                output.append(contentsOf: number)
                return
            }
        case .boolean:
            if let bool = JSONSpelling.bool(bytes) {
                output.append(contentsOf: bool ? "true".utf8 : "false".utf8)
                return
            }
        case .date(let format):
            if let milliseconds = DateText.milliseconds(cell.text(in: record), format: format) {
                output.append(contentsOf: "\(milliseconds)".utf8)
                return
            }
        }
        throw RecordError(
            "\(quoted(cell.text(in: record))) is no \(column.type.name), which the column holds; "
                + "--text \(column.name) makes it a column of texts", path: column.name)
    }

    static func isUTF8(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        var all: UInt8 = 0
        for byte in bytes { all |= byte }
        return all < 0x80 || String(validating: bytes, as: UTF8.self) != nil
    }
}

extension ColumnType {
    /// What a cell of the column is called.
    var name: String {
        switch self {
        case .text: "text"
        case .number: "number"
        case .boolean: "boolean"
        case .date(let format): format.map { "date of the form \($0)" } ?? "date"
        }
    }
}
