import PersistentStructures

/// The order of a column's values. The dictionary stores coded values in an encoding whose byte
/// order is the order of values.
extension Column {
    /// Compares two cells of this column: negative if `a` comes before `b`, 0 if they are equal in
    /// order.
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
        // One number is an exact binary64; the other lies between two binary64 values.
        let (first, second) = (leading(a), leading(b))
        if first != second { return first < second ? -1 : 1 }
        return kindA == nil ? -1 : 1
    }

    /// A 64-bit prefix of the order: it never contradicts the order of values, and equal values
    /// have equal prefixes.
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

    /// The difference between a number and the binary64 that `leading` encodes.
    func rest(_ cell: Cell) -> UInt64 {
        cell.coded == .number ? Self.bigEndian(bytes(of: cell), 2, from: 8) : 0
    }

    /// Some bytes as a big-endian number, with zeros after the end.
    static func bigEndian(_ bytes: Bytes, _ count: Int, from first: Int = 0) -> UInt64 {
        var value: UInt64 = 0
        for position in first..<first + count {
            value = value << 8 | (position < bytes.count ? UInt64(bytes[position]) : 0)
        }
        return value
    }
}
