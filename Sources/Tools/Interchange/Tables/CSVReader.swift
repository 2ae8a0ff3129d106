/// A table of separated values, one object for each row.
///
/// Blank lines are skipped. A record's number is the physical line it begins on. What the columns
/// hold is decided by the first 10,000 rows.
struct CSVReader: RecordReader {
    /// The header row as it stands; nothing where there is none.
    let head: [UInt8]
    /// What was found out about the table.
    let dialect: TableDialect
    /// The columns with their types.
    private(set) var header: CSVHeader
    private let window: ByteWindow
    private let keepsSource: Bool
    private var scanner: CSVScanner
    private var builder: CSVRecordBuilder
    /// The physical line on which the next record begins.
    private var line = 1

    /// - Parameter isTabbed: whether tabs separate the cells, unless it is told otherwise.
    init(
        _ window: ByteWindow, isTabbed: Bool, options: ReadingOptions
    ) throws(InterchangeError) {
        self.window = window
        keepsSource = options.keepsSource
        while window.count < Self.headBytes, window.grow(), !window.source.isDry {}
        var told = options.table
        let excel = Self.separatorLine(window)
        if excel != nil { line += 1 }
        told.separator = told.separator ?? excel ?? (isTabbed ? UInt8(ascii: "\t") : nil)
        dialect = TableDialect(
            of: window.prefix(Self.headBytes),
            isWhole: window.isAtEnd && window.count <= Self.headBytes, told)
        scanner = CSVScanner(separator: dialect.separator, hasQuotes: dialect.hasQuotes)
        guard let first = try Self.scan(window, &scanner, &line) else {
            throw InterchangeError("is empty: expected a header row")
        }
        guard case .record(let bytes) = first, !scanner.hasTextBehindQuote else {
            throw InterchangeError("the quotes of the header row do not match")
        }
        let names = try Self.names(scanner.cells, window.prefix(bytes), dialect.hasHeader)
        header = try CSVHeader(names: names, options: options.table)
        builder = CSVRecordBuilder(header: header, empty: options.table.empty)
        head = dialect.hasHeader ? Array(window.prefix(bytes)) : []
        if dialect.hasHeader {
            window.consume(bytes)
            line += scanner.lineFeeds
        }
        header.setTypes(try types(options.table, all: options.surveysAll))
        builder = CSVRecordBuilder(header: header, empty: options.table.empty)
    }

    private static let headBytes = 65_536

    /// The separator that a first line `sep=;` tells, as Excel writes it; the line is consumed.
    private static func separatorLine(_ window: ByteWindow) -> UInt8? {
        guard window.bytes.starts(with: "sep=".utf8),
            let end = window.firstIndex(of: UInt8(ascii: "\n")), (5...6).contains(end),
            end == 5 || window.bytes[5] == 0x0D
        else { return nil }
        defer { window.consume(end + 1) }
        return window.bytes[4]
    }

    private static func names(
        _ cells: [CSVScanner.Cell], _ record: UnsafeBufferPointer<UInt8>, _ hasHeader: Bool
    ) throws(InterchangeError) -> [String?] {
        guard CSVRecordBuilder.isUTF8(record) else {
            throw InterchangeError(
                "the header row is not valid UTF-8; --encoding windows-1252 or utf-16 says what it "
                    + "is")
        }
        guard !cells.contains(where: { !$0.isQuoted && record[$0.range].contains(0x0D) }) else {
            throw InterchangeError(
                "the header row contains a carriage return: lines have to end in LF or CRLF")
        }
        guard hasHeader else { return (1...cells.count).map { "column\($0)" } }
        return cells.map { $0.range.isEmpty && !$0.isQuoted ? nil : $0.text(in: record) }
    }

    /// The types that the rows show, of columns of which none is told.
    private mutating func types(
        _ options: TableOptions, all: Bool
    ) throws(InterchangeError) -> [ColumnType] {
        var samples = Array(repeating: ColumnSample(), count: header.columns.count)
        let first = line
        try window.lookAhead { () throws(InterchangeError) in
            var limit = SampleLimit(window, all: all)
            // The reader of the records meets a fault of the file again.
            while limit.goOn(hasLine: hasLine), let row = (try? row()) ?? nil {
                if case .cells(let bytes) = row {
                    add(window.prefix(bytes), to: &samples)
                    consume(bytes)
                }
            }
        }
        line = first
        return zip(header.columns, samples).map { column, sample in
            options.types[column.name] ?? sample.type(decimal: options.decimal)
        }
    }

    private func add(_ record: UnsafeBufferPointer<UInt8>, to samples: inout [ColumnSample]) {
        guard scanner.cells.count == samples.count else { return }
        for (index, cell) in scanner.cells.enumerated() where !cell.range.isEmpty {
            let bytes = UnsafeBufferPointer(rebasing: record[cell.range])
            samples[index].add(bytes, isQuoted: cell.isQuoted)
        }
    }

    // MARK: Records

    private enum Row {
        /// Its bytes are in the window, its cells in the scanner.
        case cells(bytes: Int)
        /// A row at fault, which has been consumed.
        case fault(RawRecord)
    }

    mutating func next() throws(InterchangeError) -> RawRecord? {
        switch try row() {
        case nil: return nil
        case .fault(let record): return record
        case .cells(let bytes):
            let (number, row) = (line, window.prefix(bytes))
            let result: Result<[UInt8], RecordError>
            do throws(RecordError) {
                result = .success(try builder.object(scanner.cells, of: row))
            } catch {
                result = .failure(error)
            }
            let source = keepsSource ? Array(row) : []
            consume(bytes)
            return RawRecord(number: number, result: result, source: source)
        }
    }

    var hasLine: Bool { window.hasLine }

    /// Moves past the row that the scanner has found.
    private mutating func consume(_ bytes: Int) {
        window.consume(bytes)
        line += scanner.lineFeeds
    }

    private mutating func row() throws(InterchangeError) -> Row? {
        guard let found = try Self.scan(window, &scanner, &line) else { return nil }
        guard case .record(let bytes) = found else {
            return try brokenRow("a quote that opens in this record is never closed")
        }
        if scanner.hasTextBehindQuote {
            return try brokenRow("there is text between a closing quote and the separator")
        }
        if scanner.cells.count != header.columns.count, scanner.lineFeeds > 1 {
            return try brokenRow(
                "expected \(header.columns.count) cells as in the header, found "
                    + "\(scanner.cells.count)")
        }
        return .cells(bytes: bytes)
    }

    /// A row whose quotes cannot be followed: its line, and those behind it that have not as many
    /// cells as the header.
    private mutating func brokenRow(_ message: String) throws(InterchangeError) -> Row {
        let number = line
        var source: [UInt8] = []
        while let end = try window.line() {
            if line > number,
                case .record(let bytes) = scanner.scan(window.prefix(end), isLast: true),
                bytes == end, scanner.cells.count == header.columns.count,
                !scanner.hasTextBehindQuote
            {
                break
            }
            if keepsSource { source += window.prefix(end) }
            window.consume(end)
            line += 1
        }
        return .fault(
            RawRecord(number: number, result: .failure(RecordError(message)), source: source))
    }

    /// The next record that is not blank, not consumed yet; nil at the end of the file.
    private static func scan(
        _ window: ByteWindow, _ scanner: inout CSVScanner, _ line: inout Int
    ) throws(InterchangeError) -> CSVScanner.Outcome? {
        while true {
            if window.count == 0, try window.fill() == .ended { return nil }
            if try Rejection.skipNote(in: window) {
                line += 1
                continue
            }
            let outcome = scanner.scan(window.bytes, isLast: window.isAtEnd)
            switch outcome {
            case .record(let bytes) where scanner.isBlank:
                window.consume(bytes)
                line += scanner.lineFeeds
            case .record, .unclosedQuote: return outcome
            case .incomplete:
                guard try window.fill() != .full else {
                    guard window.firstIndex(of: UInt8(ascii: "\n")) == nil else {
                        return .unclosedQuote
                    }
                    throw InterchangeError(
                        "the record of line \(line) is longer than \(window.count) bytes")
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
