import PersistentStructures
import QueryLanguage

/// A place in the order of a column: directly before or directly after all cells of a value.
struct ColumnBound: Sendable {
    /// Negative for cells before the place, positive for cells after it.
    let side: @Sendable (Cell, Column) -> Int

    /// The place before the cells that equal a value, or after them.
    init(_ value: SortValue, behind: Bool) {
        side = { cell, column in
            let order = column.order(cell, value)
            return order == 0 ? (behind ? -1 : 1) : order
        }
    }

    /// The place after every string with a prefix.
    init(behindPrefix prefix: [UInt8]) {
        side = { cell, column in
            guard cell.coded == .string else { return column.order(cell, .string(prefix)) }
            let bytes = column.bytes(of: cell)
            if bytes.starts(with: prefix) { return -1 }
            return bytes.lexicographicallyPrecedes(prefix) ? -1 : 1
        }
    }
}

/// The values that satisfy a leaf, as a range in the order of its column.
package struct ColumnRange: Sendable {
    let lower: ColumnBound
    let upper: ColumnBound

    /// The range of a leaf; nil if one range cannot represent the leaf.
    package init?(_ leaf: Clause) {
        switch leaf {
        case .eq(_, let literal):
            let value = SortValue(literal)
            lower = ColumnBound(value, behind: false)
            upper = ColumnBound(value, behind: true)
        case .prefix(_, let prefix):
            lower = ColumnBound(.string(prefix), behind: false)
            upper = ColumnBound(behindPrefix: prefix)
        case .range(_, .numbers(let low, let high)):
            lower =
                low.map { ColumnBound(SortValue($0.value), behind: !$0.included) }
                ?? ColumnBound(.bool(true), behind: true)
            upper =
                high.map { ColumnBound(SortValue($0.value), behind: $0.included) }
                ?? ColumnBound(.string([]), behind: false)
        case .range(_, .strings(let low, let high)):
            lower =
                low.map { ColumnBound(.string($0.value), behind: !$0.included) }
                ?? ColumnBound(.string([]), behind: false)
            upper =
                high.map { ColumnBound(.string($0.value), behind: $0.included) }
                ?? ColumnBound(.point(latitude: -.infinity, longitude: 0), behind: false)
        default: return nil
        }
    }
}

extension Column {
    /// Compares a cell of this column with a value: negative if the cell comes before it, 0 if they
    /// are equal in order.
    package func order(_ cell: Cell, _ value: SortValue) -> Int {
        let (rank, other) = (cell.type.rank, value.type.rank)
        if rank != other { return rank < other ? -1 : 1 }
        switch value {
        case .null, .container, .missing, .distance: return 0
        case .bool(let bool): return Self.order(cell.bits, Cell(bool).bits)
        case .number(let floor, let rest):
            let first = Self.order(leading(cell), floor.ordered)
            return first != 0 ? first : Self.order(self.rest(cell), UInt64(rest))
        case .string(let utf8):
            return utf8.withUnsafeBufferPointer { Self.order(bytes(of: cell), $0) }
        case .point(let latitude, let longitude):
            let (ownLatitude, ownLongitude) = point(cell)
            let first = Self.order(ownLatitude, latitude.ordered)
            return first != 0 ? first : Self.order(ownLongitude, longitude.ordered)
        }
    }

    private static func order(_ a: UInt64, _ b: UInt64) -> Int { a < b ? -1 : (a == b ? 0 : 1) }

    /// The sort value of a cell.
    package func sortValue(_ cell: Cell) -> SortValue {
        switch cell.type {
        case .null: .null
        case .bool: .bool(cell == .yes)
        case .number: .number(floor: Double(ordered: leading(cell)), rest: UInt16(rest(cell)))
        case .string: .string(Array(bytes(of: cell)))
        case .point:
            .point(
                latitude: Double(ordered: point(cell).latitude),
                longitude: Double(ordered: point(cell).longitude))
        case .missing: .missing
        default: .container
        }
    }

    /// The coordinates of a point as ordered unsigned integers.
    private func point(_ cell: Cell) -> (latitude: UInt64, longitude: UInt64) {
        let bytes = bytes(of: cell)
        return (Self.bigEndian(bytes, 8), Self.bigEndian(bytes, 8, from: 8))
    }
}

extension SortValue {
    init(_ literal: Literal) {
        switch literal {
        case .null: self = .null
        case .bool(let bool): self = .bool(bool)
        case .number(let number): self.init(number)
        case .string(let utf8): self = .string(utf8)
        case .point(let position): self.init(position)
        }
    }

    /// The type of a cell with this value.
    var type: CellTypes {
        switch self {
        case .null: .null
        case .bool: .bool
        case .number, .distance: .number
        case .string: .string
        case .point: .point
        case .container: .array
        case .missing: .missing
        }
    }
}
