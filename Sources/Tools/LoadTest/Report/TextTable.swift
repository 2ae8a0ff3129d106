/// Rows of text in columns: the first is aligned to the left, the others to the right.
package struct TextTable {
    package private(set) var rows: [[String]]

    package init(_ head: [String]) { rows = [head] }

    package mutating func add(_ row: [String]) { rows.append(row) }

    /// One line for each row, each with a line break.
    package var text: String {
        let columns = rows.map(\.count).max() ?? 0
        let widths = (0..<columns).map { column in
            rows.map { column < $0.count ? $0[column].count : 0 }.max() ?? 0
        }
        return rows.map { row in
            let cells = row.enumerated().map { column, cell in
                let space = String(repeating: " ", count: widths[column] - cell.count)
                return column == 0 ? cell + space : space + cell
            }
            let line = cells.joined(separator: "  ")
            return String(line.reversed().drop { $0 == " " }.reversed()) + "\n"
        }.joined()
    }
}
