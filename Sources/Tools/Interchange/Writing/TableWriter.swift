import JSONText
import Objects

/// Aligned columns for a terminal.
///
///     _id   name       distance
///     RJTT  羽田空港    14.4 km
///
/// Without a list of columns all fields are shown, but only `_id` of the predefined ones. Members
/// of `_calculated` have separate columns, as lengths. All objects are kept until the end, because
/// each can widen a column.
struct TableWriter: ObjectWriter {
    private struct Column {
        /// A field path; `_calculated.d` for a distance.
        let path: FieldPath
        var width: Int
        /// Whether the whole column is aligned to the right.
        var isNumeric = true
    }

    private let options: WritingOptions
    private let parser = ObjectParser()
    private var columns: [Column] = []
    private var indices: [FieldPath: Int] = [:]
    /// A row is shorter than the columns if later rows added some.
    private var rows: [[TableCell]] = []

    init(options: WritingOptions) {
        self.options = options
        for name in options.columns ?? [] { _ = index(of: FieldPath(name)) }
    }

    mutating func write(_ object: [UInt8], to output: inout [UInt8]) throws(InterchangeError) {
        let view = try parser.parse(object)
        var row: [TableCell] = []
        if options.columns != nil {
            for column in columns { set(TableCell(column.path.value(in: view)), column.path, &row) }
        } else {
            for member in view.members where Self.isShown(member.name) {
                set(TableCell(member.value), FieldPath(utf8: Array(member.name)), &row)
            }
        }
        if let calculated = view["_calculated"] {
            for member in calculated.members {
                let path = FieldPath(utf8: Self.calculated + Array(member.name))
                set(Self.distance(member.value), path, &row)
            }
        }
        rows.append(row)
    }

    mutating func finish(to output: inout [UInt8]) {
        if rows.isEmpty { for name in options.columnsIfEmpty { _ = index(of: FieldPath(name)) } }
        if columns.isEmpty { return }
        let titles = columns.map { title(of: $0) }
        let natural = zip(columns, titles).map { max($0.width, DisplayWidth.of($1)) }
        var order = Array(columns.indices)
        var widths = TableLayout(natural: natural, width: options.width).widths
        if widths.count < order.count {
            // Computed columns are dropped last.
            order =
                order.prefix(1) + order.dropFirst().filter(isCalculated)
                + order.dropFirst().filter { !isCalculated($0) }
            widths = TableLayout(natural: order.map { natural[$0] }, width: options.width).widths
        }
        let header = order.map { TableCell(text: titles[$0], isNumber: columns[$0].isNumeric) }
        if options.isBold { output += "\u{1B}[1m".utf8 }
        output += Self.line(header, widths).utf8
        output += (options.isBold ? "\u{1B}[0m\n" : "\n").utf8
        for row in rows {
            let cells = order.map { $0 < row.count ? row[$0] : .empty }
            output += Self.line(cells, widths).utf8
            output.append(UInt8(ascii: "\n"))
        }
        let hidden = order.dropFirst(widths.count).map { titles[$0] }
        if !hidden.isEmpty { output += "(no room for: \(hidden.joined(separator: ", ")))\n".utf8 }
    }

    private func isCalculated(_ index: Int) -> Bool {
        columns[index].path.utf8.starts(with: Self.calculated)
    }

    private static let calculated = Array("_calculated.".utf8)

    private static func isShown(_ name: UnsafeBufferPointer<UInt8>) -> Bool {
        name.first != UInt8(ascii: "_") || name.elementsEqual(PredefinedField.id.rawValue.utf8)
    }

    private static func distance(_ value: JSONView) -> TableCell {
        guard let meters = value.number?.double, (0...1e15).contains(meters) else {
            return TableCell(value)
        }
        return TableCell(meters: meters)
    }

    private mutating func set(_ cell: TableCell, _ path: FieldPath, _ row: inout [TableCell]) {
        let index = index(of: path)
        while row.count <= index { row.append(.empty) }
        row[index] = cell
        columns[index].width = max(columns[index].width, DisplayWidth.of(cell.text))
        if !cell.text.isEmpty, !cell.isNumber { columns[index].isNumeric = false }
    }

    /// The index of a path's column, which is created if it is missing.
    private mutating func index(of path: FieldPath) -> Int {
        if let index = indices[path] { return index }
        indices[path] = columns.count
        columns.append(Column(path: path, width: 0))
        return columns.count - 1
    }

    /// The path; for a distance the bare name, unless a field has the same name.
    private func title(of column: Column) -> String {
        var path = column.path
        if path.utf8.starts(with: Self.calculated) {
            let bare = FieldPath(utf8: Array(path.utf8.dropFirst(Self.calculated.count)))
            if indices[bare] == nil { path = bare }
        }
        return TableCell.printable(path.text)
    }

    private static func line(_ cells: [TableCell], _ widths: [Int]) -> String {
        var line = ""
        for (index, width) in zip(0..., widths) {
            let cell = index < cells.count ? cells[index] : .empty
            let text = DisplayWidth.cut(cell.text, to: width)
            let padding = String(repeating: " ", count: max(width - DisplayWidth.of(text), 0))
            if index > 0 { line += String(repeating: " ", count: TableLayout.gap) }
            line += cell.isNumber ? padding + text : text + padding
        }
        while line.last == " " { line.removeLast() }
        return line
    }
}
