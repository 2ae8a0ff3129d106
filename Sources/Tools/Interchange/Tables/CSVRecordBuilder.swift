import JSONText
import Objects

/// Converts the cells of one record to JSON text, by the types of the columns.
final class CSVRecordBuilder {
    private let header: CSVHeader
    private let empty: TableOptions.EmptyCells
    private var writer = JSONWriter(reserving: 1_024)

    init(header: CSVHeader, empty: TableOptions.EmptyCells) {
        (self.header, self.empty) = (header, empty)
    }

    /// - Parameter record: the bytes to which the cells' ranges refer.
    func object(
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
        writer.removeAll(keeping: 65_536)
        var isFirst = true
        writer.byte(UInt8(ascii: "{"))
        for field in header.fields { try append(field, cells, record, &isFirst) }
        writer.byte(UInt8(ascii: "}"))
        return writer.bytes
    }

    /// - Parameter isFirst: whether it is the first member of its object; false if it was written.
    private func append(
        _ field: CSVHeader.Field, _ cells: [CSVScanner.Cell], _ record: UnsafeBufferPointer<UInt8>,
        _ isFirst: inout Bool
    ) throws(RecordError) {
        let (before, wasFirst) = (writer.count, isFirst)
        if !isFirst { writer.byte(UInt8(ascii: ",")) }
        isFirst = false
        switch field {
        case .column(let index, let key):
            writer.raw(key)
            if try appendValue(header.columns[index], cells[index], record) { return }
        case .group(let key, let fields):
            writer.raw(key)
            writer.byte(UInt8(ascii: "{"))
            var isEmpty = true
            for field in fields { try append(field, cells, record, &isEmpty) }
            writer.byte(UInt8(ascii: "}"))
            if !isEmpty { return }
        }
        writer.truncate(to: before)
        isFirst = wasFirst
    }

    /// False for an empty cell, which is no value.
    private func appendValue(
        _ column: CSVHeader.Column, _ cell: CSVScanner.Cell, _ record: UnsafeBufferPointer<UInt8>
    ) throws(RecordError) -> Bool {
        if cell.range.isEmpty {
            switch empty {
            case .missing: return false
            case .null: writer.raw("null")
            case .text: writer.raw("\"\"")
            }
            return true
        }
        let bytes = UnsafeBufferPointer(rebasing: record[cell.range])
        switch column.type {
        case .text:
            if cell.hasDoubledQuotes {
                writer.string(cell.text(in: record))
            } else {
                writer.string(bytes)
            }
            return true
        case .number(let comma):
            if JSONSpelling.isNumber(bytes) {
                writer.raw(bytes)
                return true
            }
            if comma, let number = JSONSpelling.withPoint(bytes) {
                writer.raw(number)
                return true
            }
        case .boolean:
            if let bool = JSONSpelling.bool(bytes) {
                writer.bool(bool)
                return true
            }
        case .date(let format):
            if let milliseconds = DateText.milliseconds(cell.text(in: record), format: format) {
                writer.integer(milliseconds)
                return true
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
