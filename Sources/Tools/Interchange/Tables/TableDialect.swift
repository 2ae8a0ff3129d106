/// How a table separates its cells, and whether its first row has the names of its columns.
public struct TableDialect: Sendable, Hashable {
    /// One of `,` `;` `|` and the tab.
    public var separator: UInt8 = UInt8(ascii: ",")
    /// Whether a cell may stand in quotes; in tables with tabs a quote is text.
    public var hasQuotes: Bool { separator != UInt8(ascii: "\t") }
    /// Whether the first row has the names.
    public var hasHeader = true

    /// Whether nearly all rows have as many cells as the first.
    private(set) var isClear = true

    static let separators = Array(",;\t|".utf8)

    /// The dialect that explains the most rows of a table's beginning.
    ///
    /// A separator explains a row that it cuts into as many cells as the first. A first row with
    /// numbers that are no years has no names, unless one of its cells is `_id`.
    ///
    /// - Parameter isWhole: whether the table ends with these bytes.
    init(of head: UnsafeBufferPointer<UInt8>, isWhole: Bool, _ told: TableOptions) {
        if let told = told.separator {
            separator = told
        } else {
            var best = (share: 0.0, cells: 1)
            defer { isClear = best.share >= 0.9 }
            for candidate in Self.separators {
                let counts = Self.rows(head, candidate, isWhole: isWhole).map(\.count)
                guard let cells = counts.first, cells > 1 else { continue }
                let share = Double(counts.count { $0 == cells }) / Double(counts.count)
                guard share > best.share || share == best.share && cells > best.cells else {
                    continue
                }
                best = (share, cells)
                separator = candidate
            }
        }
        let rows = Self.rows(head, separator, isWhole: isWhole)
        let first = rows.first ?? []
        hasHeader =
            told.hasHeader ?? (first.contains("_id") || !first.contains(where: Self.isMeasured))
    }

    /// A number as no column is called: with a fraction, or less than 1800 or more than 2200.
    private static func isMeasured(_ cell: String) -> Bool {
        guard let number = PlaceReader.decimal(cell) else { return false }
        return !(1_800...2_200).contains(number) || number != number.rounded()
    }

    /// The first rows, as texts.
    private static func rows(
        _ head: UnsafeBufferPointer<UInt8>, _ separator: UInt8, isWhole: Bool
    ) -> [[String]] {
        var scanner = CSVScanner(
            separator: separator, hasQuotes: separator != UInt8(ascii: "\t"))
        var rows: [[String]] = []
        var rest = head
        while rows.count < 50, !rest.isEmpty {
            guard case .record(let bytes) = scanner.scan(rest, isLast: isWhole) else { break }
            let record = UnsafeBufferPointer(rebasing: rest[..<bytes])
            if !scanner.isBlank { rows.append(scanner.cells.map { $0.text(in: record) }) }
            rest = UnsafeBufferPointer(rebasing: rest[bytes...])
        }
        return rows
    }
}

/// What is told of a table; what is not told is found out.
public struct TableOptions: Sendable, Hashable {
    /// The byte between cells.
    public var separator: UInt8?
    /// `.` or `,`, before the fraction of numbers.
    public var decimal: UInt8?
    /// Whether the first row has the names of the columns.
    public var hasHeader: Bool?
    /// The types of columns by name.
    public var types: [String: ColumnType] = [:]
    /// What becomes of empty cells.
    public var empty = EmptyCells.missing
    /// Whether a column `address.city` becomes the field `city` inside `address`.
    public var nests = false

    /// Nothing is told.
    public init() {}

    /// What becomes of empty cells.
    public enum EmptyCells: String, Sendable, Hashable, CaseIterable {
        /// No field, a null, or an empty text.
        case missing, null, text
    }
}
