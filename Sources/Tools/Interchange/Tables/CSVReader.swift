/// A table of separated values, one object for each row.
///
/// Blank lines are skipped. A record's number is the physical line it begins on. What the columns
/// hold is decided by the first 10,000 rows.
struct CSVReader: RecordReader {
    /// The header row as it stands, if the source is kept.
    let head: [UInt8]
    /// What was found out about the table.
    private(set) var dialect: TableDialect
    /// The columns with their types.
    private(set) var header: CSVHeader
    private let window: ByteWindow
    private let keepsSource: Bool
    private var scanner: CSVScanner
    private var builder: CSVRecordBuilder
    /// The physical line on which the next record begins.
    private var line = 1
    /// The rows that have been looked at and not delivered, the next one last.
    private var sample: [Row] = []
    /// The fault of the file behind those rows.
    private var fault: InterchangeError?

    private enum Row {
        case cells(number: Int, [CSVScanner.Cell], [UInt8])
        case fault(number: Int, RecordError, [UInt8])

        var bytes: Int {
            switch self {
            case .cells(_, let cells, let bytes): bytes.count + 40 * cells.count
            case .fault(_, _, let bytes): bytes.count
            }
        }
    }

    init(
        _ window: ByteWindow, isTabbed: Bool, options: ReadingOptions
    ) throws(InterchangeError) {
        self.window = window
        keepsSource = options.keepsSource
        while window.count < Self.headBytes, try window.fill() == .grown, !window.source.isDry {}
        var told = options.table
        if isTabbed, told.separator == nil { told.separator = UInt8(ascii: "\t") }
        dialect = TableDialect(
            of: UnsafeBufferPointer(rebasing: window.bytes.prefix(Self.headBytes)),
            isWhole: window.isAtEnd && window.count <= Self.headBytes, told)
        scanner = CSVScanner(separator: dialect.separator, hasQuotes: dialect.hasQuotes)
        guard let first = try Self.scan(window, &scanner, &line) else {
            throw InterchangeError("is empty: expected a header row")
        }
        guard case .record(let bytes) = first, !scanner.hasTextBehindQuote else {
            throw InterchangeError("the quotes of the header row do not match")
        }
        let names = try Self.names(
            scanner.cells, UnsafeBufferPointer(rebasing: window.bytes[..<bytes]),
            dialect.hasHeader)
        header = try CSVHeader(names: names, options: options.table)
        builder = CSVRecordBuilder(header: header, empty: options.table.empty)
        head = dialect.hasHeader ? Array(window.bytes[..<bytes]) : []
        if dialect.hasHeader {
            window.consume(bytes)
            line += scanner.lineFeeds
        }
        decideTypes(options.table)
        builder = CSVRecordBuilder(header: header, empty: options.table.empty)
    }

    private static let headBytes = 65_536

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

    // MARK: Types

    private mutating func decideTypes(_ options: TableOptions) {
        var samples = Array(repeating: ColumnSample(), count: header.columns.count)
        var (rows, size) = ([Row](), 0)
        while rows.count < SampleSize.records, size < SampleSize.bytes,
            rows.isEmpty || hasLine || !window.source.isDry(afterMilliseconds: SampleSize.patience),
            let row = rowOrFault()
        {
            size += row.bytes
            rows.append(row)
            guard case .cells(_, let cells, let bytes) = row, cells.count == samples.count else {
                continue
            }
            bytes.withUnsafeBufferPointer { bytes in
                for (index, cell) in cells.enumerated() where !cell.range.isEmpty {
                    samples[index].add(
                        UnsafeBufferPointer(rebasing: bytes[cell.range]), isQuoted: cell.isQuoted)
                }
            }
        }
        sample = rows.reversed()
        header.setTypes(
            zip(header.columns, samples).map { column, sample in
                options.types[column.name] ?? sample.type(decimal: options.decimal)
            })
    }

    private mutating func rowOrFault() -> Row? {
        do throws(InterchangeError) {
            return try row()
        } catch {
            fault = error
            return nil
        }
    }

    // MARK: Records

    mutating func next() throws(InterchangeError) -> RawRecord? {
        var row = sample.popLast()
        if row == nil {
            if let fault { throw fault }
            row = try self.row()
        }
        switch row {
        case nil: return nil
        case .fault(let number, let error, let source):
            return RawRecord(number: number, result: .failure(error), source: source)
        case .cells(let number, let cells, let bytes):
            let result: Result<[UInt8], RecordError>
            do throws(RecordError) {
                result = .success(
                    try bytes.withUnsafeBufferPointer { record throws(RecordError) in
                        try builder.object(cells, of: record)
                    })
            } catch {
                result = .failure(error)
            }
            return RawRecord(number: number, result: result, source: keepsSource ? bytes : [])
        }
    }

    /// Whether the next line is in memory, with its line break.
    var hasLine: Bool { !sample.isEmpty || window.hasLine() }

    /// The next row, consumed.
    private mutating func row() throws(InterchangeError) -> Row? {
        guard let found = try Self.scan(window, &scanner, &line) else { return nil }
        let number = line
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
        let record = Array(window.bytes[..<bytes])
        window.consume(bytes)
        line += scanner.lineFeeds
        return .cells(number: number, scanner.cells, record)
    }

    /// A row whose quotes cannot be followed: its line, and those behind it that have not as many
    /// cells as the header.
    private mutating func brokenRow(_ message: String) throws(InterchangeError) -> Row {
        let number = line
        var source = try takeLine()
        while try fillLine() {
            let end = window.firstIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? window.count
            let next = UnsafeBufferPointer(rebasing: window.bytes[..<end])
            if case .record(let bytes) = scanner.scan(next, isLast: true), bytes == end,
                scanner.cells.count == header.columns.count, !scanner.hasTextBehindQuote
            {
                break
            }
            source += try takeLine()
        }
        return .fault(number: number, RecordError(message), source)
    }

    /// Whether there is another line, which then is in the window.
    private func fillLine() throws(InterchangeError) -> Bool {
        while window.firstIndex(of: UInt8(ascii: "\n")) == nil, try window.fill() == .grown {}
        return window.count > 0
    }

    private mutating func takeLine() throws(InterchangeError) -> [UInt8] {
        guard try fillLine() else { return [] }
        let end = window.firstIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? window.count
        defer {
            window.consume(end)
            line += 1
        }
        return Array(window.bytes[..<end])
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
