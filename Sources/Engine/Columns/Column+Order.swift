import PersistentStructures

/// The order of a column's values. Coded values are spelled in their dictionary so that the order
/// of the bytes is theirs.
extension Column {
    /// Below 0 when `a` comes before `b`, 0 when they are equal in order; both are this column's.
    package func order(_ a: Cell, _ b: Cell) -> Int {
        if a == b { return 0 }
        let (kindA, kindB) = (a.coded, b.coded)
        if kindA == nil && kindB == nil {
            let isContainer = a.type.rank == b.type.rank && a.type.rank == CellTypes.array.rawValue
            return isContainer ? 0 : (a.bits < b.bits ? -1 : 1)
        }
        let (rankA, rankB) = (a.type.rank, b.type.rank)
        if rankA != rankB { return rankA < rankB ? -1 : 1 }
        if kindA == kindB { return Self.order(bytes(of: a), bytes(of: b)) }
        // A number that is a binary64 and one between two of them.
        let (first, second) = (leading(a), leading(b))
        if first != second { return first < second ? -1 : 1 }
        return kindA == nil ? -1 : 1
    }

    /// 64 bits whose order is that of the values, as far as 64 bits tell; equal for equal values.
    @inlinable
    public func leading(_ cell: Cell) -> UInt64 {
        if cell.isCoded { return codedLeading(cell) }
        return cell == .object ? Cell.array.bits : cell.bits
    }

    @usableFromInline
    func codedLeading(_ cell: Cell) -> UInt64 {
        let bytes = bytes(of: cell)
        if cell.coded == .number { return Self.bigEndian(bytes, 8) }
        return cell.bits & 0xFFFF << 48 | Self.bigEndian(bytes, 6)
    }

    /// Whether values with the same `leading` are equal in order.
    package var leadingIsExact: Bool { dictionary.count == 0 }

    static func order(_ a: Bytes, _ b: Bytes) -> Int {
        a.lexicographicallyPrecedes(b) ? -1 : (b.lexicographicallyPrecedes(a) ? 1 : 0)
    }

    /// What a number lies above the binary64 that `leading` is of.
    func rest(_ cell: Cell) -> UInt64 {
        cell.coded == .number ? Self.bigEndian(bytes(of: cell), 2, from: 8) : 0
    }

    /// Some bytes as a number, zeros behind the end.
    static func bigEndian(_ bytes: Bytes, _ count: Int, from first: Int = 0) -> UInt64 {
        var value: UInt64 = 0
        for position in first..<first + count {
            value = value << 8 | (position < bytes.count ? UInt64(bytes[position]) : 0)
        }
        return value
    }
}
