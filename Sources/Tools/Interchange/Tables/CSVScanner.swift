/// Finds the cells of one record of comma-separated values (RFC 4180) in a run of bytes.
///
/// A cell that begins with a quote is quoted: separators and line breaks in it are text, and a
/// doubled quote is one quote. A quote inside an unquoted cell is text. Records end at LF or CRLF.
///
/// - Complexity: one pass; nothing is allocated once the list of cells has grown.
struct CSVScanner {
    let separator: UInt8
    /// Whether a cell may be quoted.
    let hasQuotes: Bool
    /// The cells of the last record found.
    private(set) var cells: [Cell] = []
    /// Line feeds in the last record found, its own end included.
    private(set) var lineFeeds = 0
    /// Whether the last record found has text between a closing quote and the next separator.
    private(set) var hasTextBehindQuote = false

    /// A cell's text without its quotes, as offsets from the record's first byte.
    struct Cell {
        var range: Range<Int>
        var isQuoted = false
        /// Whether the range holds doubled quotes.
        var hasDoubledQuotes = false
    }

    enum Outcome: Equatable {
        /// The length of the record, including its line break.
        case record(bytes: Int)
        /// More bytes are needed to decide.
        case incomplete
        /// The bytes end inside a quoted cell, and no more will come.
        case unclosedQuote
    }

    private static let quote = UInt8(ascii: "\"")
    private static let carriageReturn: UInt8 = 0x0D
    private static let lineFeed: UInt8 = 0x0A

    init(separator: UInt8, hasQuotes: Bool = true) {
        (self.separator, self.hasQuotes) = (separator, hasQuotes)
    }

    /// - Parameter isLast: whether no bytes will follow these.
    mutating func scan(_ bytes: UnsafeBufferPointer<UInt8>, isLast: Bool) -> Outcome {
        cells.removeAll(keepingCapacity: true)
        lineFeeds = 0
        hasTextBehindQuote = false
        var at = 0
        while true {
            if beginsQuoted(bytes, &at) {
                guard quotedCell(bytes, &at) else { return isLast ? .unclosedQuote : .incomplete }
            } else {
                plainCell(bytes, &at)
            }
            guard at < bytes.count || isLast else { return .incomplete }
            if at < bytes.count, bytes[at] == separator {
                at += 1
                continue
            }
            if at < bytes.count {
                lineFeeds += 1
                at += 1
            }
            return .record(bytes: at)
        }
    }

    /// Appends the unquoted cell that begins at `at` and ends at the next separator or line feed.
    private mutating func plainCell(_ bytes: UnsafeBufferPointer<UInt8>, _ at: inout Int) {
        let start = at
        skipToEnd(bytes, &at)
        var end = at
        let endsLine = at == bytes.count || bytes[at] == Self.lineFeed
        if endsLine, end > start, bytes[end - 1] == Self.carriageReturn { end -= 1 }
        var first = start
        while first < end, Self.isBlank(bytes[first]) { first += 1 }
        while end > first, Self.isBlank(bytes[end - 1]) { end -= 1 }
        cells.append(Cell(range: first..<end))
    }

    /// Whether the next cell is quoted, whatever blanks stand before the quote, which are skipped.
    private func beginsQuoted(_ bytes: UnsafeBufferPointer<UInt8>, _ at: inout Int) -> Bool {
        guard hasQuotes else { return false }
        var first = at
        while first < bytes.count, Self.isBlank(bytes[first]), bytes[first] != separator {
            first += 1
        }
        guard first < bytes.count, bytes[first] == Self.quote else { return false }
        at = first
        return true
    }

    private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }

    /// The same for a quoted cell; false when its closing quote is not among the bytes.
    private mutating func quotedCell(
        _ bytes: UnsafeBufferPointer<UInt8>, _ at: inout Int
    ) -> Bool {
        var cell = Cell(range: at + 1..<at + 1, isQuoted: true)
        var close = at + 1
        while close < bytes.count {
            if bytes[close] == Self.quote {
                guard close + 1 < bytes.count, bytes[close + 1] == Self.quote else { break }
                cell.hasDoubledQuotes = true
                close += 1
            } else if bytes[close] == Self.lineFeed {
                lineFeeds += 1
            }
            close += 1
        }
        guard close < bytes.count else { return false }
        cell.range = at + 1..<close
        cells.append(cell)
        at = close + 1
        skipToEnd(bytes, &at)
        var behind = bytes[(close + 1)..<at]
        let isLineEnd = at == bytes.count || bytes[at] == Self.lineFeed
        if isLineEnd, behind.last == Self.carriageReturn { behind.removeLast() }
        if !behind.allSatisfy(Self.isBlank) { hasTextBehindQuote = true }
        return true
    }

    private func skipToEnd(_ bytes: UnsafeBufferPointer<UInt8>, _ at: inout Int) {
        while at < bytes.count, bytes[at] != separator, bytes[at] != Self.lineFeed { at += 1 }
    }
}
