import JSONText
import Objects
import PersistentStructures
import QueryLanguage

/// A leaf of a clause as a test of one column's cells: true for cells that match, false for other
/// cells of comparable types, and unknown for the rest.
package struct CellPredicate: Sendable {
    let match: Match
    /// The types for which a cell that does not match yields false rather than unknown.
    let domain: CellTypes

    enum Match: Sendable {
        case nothing
        /// Cells whose bits are in a range: one value, or a range of numbers.
        case interval(ClosedRange<UInt64>)
        /// Any of several cells, in the order of their bits.
        case anyOf([UInt64])
        case types(CellTypes)
        /// Numbers with a fractional part, or numbers without one.
        case wholeNumbers(Bool)
        case numbers(NumberRange)
        /// Strings that a test accepts. It takes so many times as long as a search for a word.
        case strings(costFactor: Int = 1, @Sendable (Bytes) -> Bool)
    }

    /// Numbers between two limits, including large integers.
    struct NumberRange: Sendable {
        let plain: ClosedRange<UInt64>?
        let range: LiteralRange
    }

    /// The test of a leaf that is not geographic; nil if cells cannot decide it.
    package init?(_ leaf: Clause, on column: Column) {
        switch leaf {
        case .eq(_, let literal): self.init(equals: literal, column)
        case .isIn(_, let literals): self.init(in: literals, column)
        case .hasField(_, let type): self.init(hasType: type)
        case .prefix(_, let prefix):
            self.init(match: .strings { $0.starts(with: prefix) }, domain: .string)
        case .like(_, let pattern):
            self.init(
                match: .strings(costFactor: pattern.costFactor) { pattern.matches($0) },
                domain: .string)
        case .contains(_, let literal):
            guard column.arrays == 0 else { return nil }
            guard case .string(let part) = literal else {
                self.init(match: .nothing, domain: [])
                return
            }
            self.init(match: .strings { $0.containsBytes(part) }, domain: .string)
        case .range(_, let range): self.init(within: range, column)
        case .all, .geo, .and, .or, .not: return nil
        }
    }

    private init(match: Match, domain: CellTypes) {
        self.match = match
        self.domain = domain
    }

    private init(equals literal: Literal, _ column: Column) {
        let cell = column.find(ColumnValue(literal))
        match = cell.map { .interval($0.bits...$0.bits) } ?? .nothing
        domain = literal.comparable
    }

    private init(in literals: [Literal], _ column: Column) {
        let cells = Set(literals.compactMap { column.find(ColumnValue($0))?.bits }).sorted()
        match = cells.isEmpty ? .nothing : .anyOf(cells)
        // If any literal is not comparable, the result is unknown instead of false.
        domain = literals.reduce(into: .present) { $0.formIntersection($1.comparable) }
    }

    private init(hasType type: FieldType?) {
        domain = CellTypes.present.union(.missing)
        switch type {
        case nil: match = .types(.present)
        case .string: match = .types(.string)
        case .integer: match = .wholeNumbers(true)
        case .decimal: match = .wholeNumbers(false)
        case .boolean: match = .types(.bool)
        case .geoPoint: match = .types(.point)
        case .array: match = .types(.array)
        case .object: match = .types(.object)
        case .null: match = .types(.null)
        }
    }

    private init(within range: LiteralRange, _ column: Column) {
        switch range {
        case .strings:
            self.init(match: .strings { range.contains(string: $0) }, domain: .string)
        case .numbers(let lower, let upper):
            let first = lower.map(Self.firstBits) ?? Cell.numbers.lowerBound
            let last = upper.map(Self.lastBits) ?? Cell.numbers.upperBound
            let plain = first <= last ? first...last : nil
            if column.hasLargeIntegers {
                self.init(
                    match: .numbers(NumberRange(plain: plain, range: range)), domain: .number)
            } else {
                self.init(match: plain.map { .interval($0) } ?? .nothing, domain: .number)
            }
        }
    }

    /// The least binary64 that satisfies a lower limit.
    private static func firstBits(_ limit: LiteralRange.Limit<JSONNumber>) -> UInt64 {
        let (floor, rest) = limit.value.floored
        return rest == 0 && limit.included ? floor.ordered : floor.ordered + 1
    }

    /// The greatest binary64 that satisfies an upper limit.
    private static func lastBits(_ limit: LiteralRange.Limit<JSONNumber>) -> UInt64 {
        let (floor, rest) = limit.value.floored
        return rest == 0 && !limit.included ? floor.ordered - 1 : floor.ordered
    }

    func truth(_ cell: Cell, in column: Column) -> Truth {
        if matches(cell, in: column) { return .yes }
        return domain.contains(cell.type) ? .no : .unknown
    }

    func matches(_ cell: Cell, in column: Column) -> Bool {
        switch match {
        case .nothing: return false
        case .interval(let range): return range.contains(cell.bits)
        case .anyOf(let cells): return cells.containsSorted(cell.bits)
        case .types(let types): return types.contains(cell.type)
        case .wholeNumbers(let whole):
            guard cell.type == .number else { return false }
            return JSONNumber.decimal(cell.coded == nil ? cell.double : 0).isWhole == whole
        case .numbers(let range):
            if cell.coded == .number { return range.range.contains(number: column.number(cell)) }
            return range.plain?.contains(cell.bits) ?? false
        case .strings(_, let accepts):
            return cell.coded == .string && accepts(column.bytes(of: cell))
        }
    }

    /// The range of the bits of all cells that pass, if they form one range.
    package var interval: ClosedRange<UInt64>? {
        if case .interval(let range) = match { range } else { nil }
    }

    /// The number of slots of a column that pass, if the column counts them.
    package func knownCount(in column: Column) -> Int? {
        switch match {
        case .nothing: 0
        case .interval(let range) where range.lowerBound == range.upperBound:
            column.uses(of: Cell(bits: range.lowerBound))
        case .interval(let range): column.uses(in: range)
        default: nil
        }
    }

    /// How many bytes a text of so many is worth in a search for a word that takes as long.
    package func testedBytes(_ bytes: Int) -> Int {
        if case .strings(let factor, _) = match { bytes * factor } else { bytes }
    }

    /// Whether the test only compares the bits of a cell.
    package var isCheap: Bool {
        switch match {
        case .nothing, .interval, .types, .wholeNumbers: true
        case .anyOf(let cells): cells.count <= 8
        case .numbers, .strings: false
        }
    }
}

extension Literal {
    /// The types that are comparable with the literal.
    fileprivate var comparable: CellTypes {
        if case .null = self { .present } else { SortValue(self).type }
    }
}

extension Column {
    /// The value of a coded number.
    func number(_ cell: Cell) -> JSONNumber {
        JSONNumber(floor: Double(ordered: leading(cell)), rest: UInt16(rest(cell)))
    }
}

extension [UInt64] {
    fileprivate func containsSorted(_ bits: UInt64) -> Bool {
        if count <= 8 { return contains(bits) }
        let position = indices.firstPosition { self[$0] < bits }
        return position < count && self[position] == bits
    }
}
