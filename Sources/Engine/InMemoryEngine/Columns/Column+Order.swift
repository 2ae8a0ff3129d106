import QueryLanguage
import SpatialIndex

/// The order of a column's values. Coded values are spelled in their dictionary so that the order
/// of the bytes is theirs.
extension Column {
    /// Below 0 when `a` comes before `b`, 0 when they are equal in order; both are this column's.
    func order(_ a: Cell, _ b: Cell) -> Int {
        if a == b { return 0 }
        let (kindA, kindB) = (a.coded, b.coded)
        if kindA == nil && kindB == nil {
            let isContainer = a.type.rank == b.type.rank && a.type.rank == CellTypes.array.rawValue
            return isContainer ? 0 : (a.bits < b.bits ? -1 : 1)
        }
        let (rankA, rankB) = (a.type.rank, b.type.rank)
        if rankA != rankB { return rankA < rankB ? -1 : 1 }
        if kindA == kindB { return Self.order(dictionary.bytes(of: a), dictionary.bytes(of: b)) }
        // A number that is a binary64 and one between two of them.
        let (first, second) = (leading(a), leading(b))
        if first != second { return first < second ? -1 : 1 }
        return kindA == nil ? -1 : 1
    }

    /// 64 bits whose order is that of the values, as far as 64 bits tell; equal for equal values.
    func leading(_ cell: Cell) -> UInt64 {
        guard let kind = cell.coded else { return cell == .object ? Cell.array.bits : cell.bits }
        let bytes = dictionary.bytes(of: cell)
        switch kind {
        case .number: return Self.bigEndian(bytes, 8)
        case .string: return kind.rawValue << 48 | Self.bigEndian(bytes, 6)
        case .point: return kind.rawValue << 48 | Self.bigEndian(bytes, 6)
        }
    }

    /// Whether values with the same `leading` are equal in order.
    var leadingIsExact: Bool { dictionary.count == 0 }

    static func order(_ a: ValueDictionary.Bytes, _ b: ValueDictionary.Bytes) -> Int {
        a.lexicographicallyPrecedes(b) ? -1 : (b.lexicographicallyPrecedes(a) ? 1 : 0)
    }

    /// The first bytes as a number, zeros behind the end.
    static func bigEndian(_ bytes: ValueDictionary.Bytes, _ count: Int) -> UInt64 {
        var value: UInt64 = 0
        for place in 0..<count {
            value = value << 8 | (place < bytes.count ? UInt64(bytes[place]) : 0)
        }
        return value
    }
}
