import QueryLanguage
import SpatialIndex

/// A place in the order of a column: right before or right behind all cells of some value.
struct ColumnBound: Sendable {
    /// Below 0 for the cells that come before the place, above 0 for those behind it.
    let side: @Sendable (Cell, Column) -> Int

    /// The place before the cells equal to a value, or behind them.
    init(_ value: SortValue, behind: Bool) {
        side = { cell, column in
            let order = column.order(cell, value)
            return order == 0 ? (behind ? -1 : 1) : order
        }
    }

    /// The place behind every string that begins with a prefix.
    init(behindPrefix prefix: [UInt8]) {
        side = { cell, column in
            guard cell.coded == .string else { return column.order(cell, .string(prefix)) }
            let bytes = column.dictionary.bytes(of: cell)
            if bytes.starts(with: prefix) { return -1 }
            return bytes.lexicographicallyPrecedes(prefix) ? -1 : 1
        }
    }
}

/// What a leaf lets through, as ranges in the order of its column.
struct ColumnRange: Sendable {
    let lower: ColumnBound
    let upper: ColumnBound

    /// The range of a leaf, if one range is what it lets through.
    init?(_ leaf: Clause) {
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
    /// Below 0 when a cell of this column comes before a value, 0 when they are equal in order.
    func order(_ cell: Cell, _ value: SortValue) -> Int {
        let (rank, other) = (cell.type.rank, value.type.rank)
        if rank != other { return rank < other ? -1 : 1 }
        switch value {
        case .null, .container, .missing, .distance: return 0
        case .bool(let bool): return Self.order(cell.bits, Cell(bool).bits)
        case .number(let floor, let rest):
            let first = Self.order(leading(cell), floor.ordered)
            guard first == 0 else { return first }
            guard cell.coded == .number else { return rest == 0 ? 0 : -1 }
            let bytes = dictionary.bytes(of: cell)
            return Self.order(UInt64(bytes[8]) << 8 | UInt64(bytes[9]), UInt64(rest))
        case .string(let utf8):
            return utf8.withUnsafeBufferPointer { Self.order(dictionary.bytes(of: cell), $0) }
        case .point(let latitude, let longitude):
            let bytes = dictionary.bytes(of: cell)
            let first = Self.order(Self.bigEndian(bytes, 8), latitude.ordered)
            if first != 0 { return first }
            let rest = ValueDictionary.Bytes(rebasing: bytes[8...])
            return Self.order(Self.bigEndian(rest, 8), longitude.ordered)
        }
    }

    private static func order(_ a: UInt64, _ b: UInt64) -> Int { a < b ? -1 : (a == b ? 0 : 1) }

    /// A cell's value as orders see it.
    func sortValue(_ cell: Cell) -> SortValue {
        switch cell.type {
        case .null: .null
        case .bool: .bool(cell == .yes)
        case .number where cell.coded == nil: .number(floor: cell.double, rest: 0)
        case .number: SortValue(number(cell))
        case .string: .string(Array(dictionary.bytes(of: cell)))
        case .point: point(cell)
        case .missing: .missing
        default: .container
        }
    }

    private func point(_ cell: Cell) -> SortValue {
        let bytes = dictionary.bytes(of: cell)
        let rest = ValueDictionary.Bytes(rebasing: bytes[8...])
        return .point(
            latitude: Double(ordered: Self.bigEndian(bytes, 8)),
            longitude: Double(ordered: Self.bigEndian(rest, 8)))
    }
}

extension SortValue {
    init(_ literal: Literal) {
        switch literal {
        case .null: self = .null
        case .bool(let bool): self = .bool(bool)
        case .number(let number): self.init(number)
        case .string(let utf8): self = .string(utf8)
        case .point(let place): self.init(place)
        }
    }

    /// The type a cell of this value has.
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
