/// Comma- or tab-separated values with a header row, one object for each record.
///
/// Blank lines are skipped. A record's number is the physical line it begins on.
public struct CSVReader: RecordReader {
    private let window: ByteWindow
    private var scanner: CSVScanner
    private var builder: CSVRecordBuilder
    /// The physical line on which the next record begins.
    private var line = 1

    init(
        _ window: ByteWindow, separator: UInt8, options: ReadingOptions
    ) throws(InterchangeError) {
        self.window = window
        scanner = CSVScanner(separator: separator)
        try window.skipByteOrderMark()
        guard let header = try Self.scan(window, &scanner, &line) else {
            throw InterchangeError("is empty: expected a header row")
        }
        guard case .record(let bytes) = header, !scanner.hasTextBehindQuote else {
            throw InterchangeError("the quotes of the header row do not match")
        }
        let record = UnsafeBufferPointer(rebasing: window.bytes[..<bytes])
        guard CSVRecordBuilder.isUTF8(record) else {
            throw InterchangeError("the header row is not valid UTF-8")
        }
        guard !scanner.cells.contains(where: { !$0.isQuoted && record[$0.range].contains(0x0D) })
        else {
            throw InterchangeError(
                "the header row contains a carriage return: lines have to end in LF or CRLF")
        }
        let names = scanner.cells.map {
            $0.range.isEmpty && !$0.isQuoted ? nil : $0.text(in: record)
        }
        builder = CSVRecordBuilder(
            header: try CSVHeader(names: names, options: options), limits: options.limits)
        window.consume(bytes)
        line += scanner.lineFeeds
    }

    public mutating func next() throws(InterchangeError) -> Record? {
        guard let found = try Self.scan(window, &scanner, &line) else { return nil }
        let number = line
        guard case .record(let bytes) = found else {
            window.consume(window.count)
            let error = RecordError("a quote that opens in this record is never closed")
            return Record(number: number, result: .failure(error))
        }
        defer {
            window.consume(bytes)
            line += scanner.lineFeeds
        }
        return Record(number: number, result: object(bytes))
    }

    /// Whether the next line is in memory, with its line break.
    public var hasLine: Bool { window.hasLine() }

    private mutating func object(_ bytes: Int) -> Result<[UInt8], RecordError> {
        if scanner.hasTextBehindQuote {
            return .failure(RecordError("there is text between a closing quote and the separator"))
        }
        do throws(RecordError) {
            let record = UnsafeBufferPointer(rebasing: window.bytes[..<bytes])
            return .success(try builder.object(scanner.cells, of: record))
        } catch {
            return .failure(error)
        }
    }

    /// The next record that is not blank, not consumed yet; nil at the end of the file.
    private static func scan(
        _ window: ByteWindow, _ scanner: inout CSVScanner, _ line: inout Int
    ) throws(InterchangeError) -> CSVScanner.Outcome? {
        while true {
            if window.count == 0, try window.fill() == .ended { return nil }
            let outcome = scanner.scan(window.bytes, isLast: window.isAtEnd)
            switch outcome {
            case .record(let bytes) where scanner.isBlank:
                window.consume(bytes)
                line += scanner.lineFeeds
            case .record, .unclosedQuote: return outcome
            case .incomplete:
                guard try window.fill() != .full else {
                    throw InterchangeError(
                        "the record of line \(line) is longer than "
                            + "\(window.count) bytes; a quote may not be closed")
                }
            }
        }
    }
}

extension CSVScanner {
    /// Whether the last record found is an empty line.
    var isBlank: Bool { cells.count == 1 && cells[0].range.isEmpty && !cells[0].isQuoted }
}

extension CSVScanner.Cell {
    /// The cell's text with doubled quotes resolved.
    func text(in record: UnsafeBufferPointer<UInt8>) -> String {
        let bytes = record[range]
        guard hasDoubledQuotes else { return String(decoding: bytes, as: UTF8.self) }
        var single: [UInt8] = []
        var at = bytes.startIndex
        while at < bytes.endIndex {
            single.append(bytes[at])
            at += bytes[at] == UInt8(ascii: "\"") ? 2 : 1
        }
        return String(decoding: single, as: UTF8.self)
    }
}
