import JSONText
import PersistentStructures
import QueryLanguage

/// The values of a column in some slots: how often each occurs, or a summary of the numbers.
///
/// In a narrow column a slot costs one addition to the count of its code. In a wide column its value
/// is looked up in a table, or added to the summary.
package struct ColumnTally: Sendable {
    package let column: Column
    /// Whether values are told apart.
    private let isGrouped: Bool
    /// The number of slots with each code of a narrow column; otherwise empty.
    private var codes: [Int]
    /// The number of slots with each cell of a wide column, if its values are told apart.
    private var cells: [Cell: Int] = [:]
    /// The numbers in a wide column, if its values are not told apart.
    private var wideNumbers = NumberSummary()
    /// The bytes of the values in `cells`; see `Aggregation.valueBytes`.
    package private(set) var tableBytes = 0

    /// A tally of no slots.
    package init(_ column: Column, isGrouped: Bool) {
        self.column = column
        self.isGrouped = isGrouped
        codes = [Int](repeating: 0, count: column.palette.count)
    }

    /// A tally of all slots except the holes; nil if the column does not count its values.
    package init?(allOf column: Column, holes: Int, isGrouped: Bool) {
        guard let uses = column.usesOfCodes else { return nil }
        self.init(column, isGrouped: isGrouped)
        codes = uses
        if let missing = column.palette.code(of: .missing) { codes[Int(missing)] -= holes }
    }

    /// Adds the values of some slots.
    package mutating func add(_ slots: Slots) {
        switch column.cells {
        case .bytes(let list):
            codes.withUnsafeMutableBufferPointer { codes in
                list.forEach(at: slots) { codes[Int($0)] += 1 }
            }
        case .shorts(let list):
            codes.withUnsafeMutableBufferPointer { codes in
                list.forEach(at: slots) { codes[Int($0)] += 1 }
            }
        case .wide(let list):
            if isGrouped {
                list.forEach(at: slots) { count($0) }
            } else {
                list.forEach(at: slots) { summarize($0, times: 1, in: &wideNumbers) }
            }
        }
    }

    private mutating func count(_ cell: Cell) {
        let known = cells.count
        cells[cell, default: 0] += 1
        if cells.count > known { tableBytes += column.valueBytes(cell) }
    }

    @inline(__always)
    private func summarize(_ cell: Cell, times: Int, in numbers: inout NumberSummary) {
        if Cell.numbers.contains(cell.bits) {
            numbers.add(cell.double, times: times)
        } else if cell.coded == .number {
            numbers.add(column.number(cell), times: times)
        }
    }

    // MARK: Results

    /// Calls `body` with each cell that occurs and its number of slots, if values are told apart or
    /// the column is narrow.
    package func forEachCount(_ body: (Cell, Int) -> Void) {
        for (code, count) in codes.enumerated() where count > 0 {
            body(column.palette.cells[code], count)
        }
        for (cell, count) in cells { body(cell, count) }
    }

    /// The numbers that were added.
    package var numbers: NumberSummary {
        var numbers = wideNumbers
        forEachCount { summarize($0, times: $1, in: &numbers) }
        return numbers
    }

    /// An upper bound of the distinct values that were added; O(1).
    package var mostValues: Int { codes.count + cells.count }

    /// The mean length of a value that is not in its cell, in bytes.
    package var averageBytes: Int { column.averageBytes }

    /// The bytes of the distinct values that were told apart; see `Aggregation.valueBytes`.
    package var valueBytes: Int {
        guard isGrouped else { return 0 }
        return codes.indices.reduce(tableBytes) { sum, code in
            codes[code] == 0 ? sum : sum + column.valueBytes(column.palette.cells[code])
        }
    }
}

extension Cell {
    /// Whether objects are grouped by the value.
    package var isGroupable: Bool { !type.isDisjoint(with: [.bool, .number, .string]) }

    /// Whether the object has no value, or null.
    package var isAbsent: Bool { self == .missing || self == .null }
}

extension Column {
    fileprivate func valueBytes(_ cell: Cell) -> Int {
        guard cell.isGroupable else { return 0 }
        return Aggregation.valueBytes + (cell.coded == .string ? bytes(of: cell).count : 0)
    }
}
