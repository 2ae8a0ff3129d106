import SpatialIndex

/// The distinct coded values of a column: strings, large integers, points.
///
/// Values stay for good, whether a cell still has them or not; `count` tells when there are so many
/// more than objects that the column is better made anew.
struct ValueDictionary: Sendable {
    private var arena = ByteArena()
    private var table = IDTable()
    private(set) var count = 0

    typealias Bytes = ByteArena.Bytes

    /// The bytes of a value: a kind, then the value itself.
    func bytes(of cell: Cell) -> Bytes {
        Bytes(rebasing: arena.bytes(at: cell.address).dropFirst())
    }

    /// The cell of a value, if the dictionary has it.
    func find(_ kind: Cell.Coded, _ value: Bytes) -> Cell? {
        Self.withKey(kind, value) { key in
            table.find(key) { arena.bytes(at: $0) }.map { Cell(kind, at: $0) }
        }
    }

    /// The cell of a value; `unknown` for one that is too long to be kept.
    mutating func intern(_ kind: Cell.Coded, _ value: Bytes) -> Cell {
        guard value.count < ByteArena.maximumBytes else { return .unknown }
        return Self.withKey(kind, value) { key in
            let arena = self.arena
            if let known = table.find(key, { arena.bytes(at: $0) }) { return Cell(kind, at: known) }
            if table.isMoving { table.moveSome { arena.bytes(at: $0) } }
            let address = self.arena.append(key)
            table.insert(address, id: key)
            count += 1
            return Cell(kind, at: address)
        }
    }

    var memoryBytes: Int { arena.memoryBytes + table.memoryBytes }

    private static func withKey<Result>(
        _ kind: Cell.Coded, _ value: Bytes, _ body: (Bytes) -> Result
    ) -> Result {
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: value.count + 1) { key in
            key[0] = UInt8(truncatingIfNeeded: kind.rawValue)
            for (place, byte) in value.enumerated() { key[place + 1] = byte }
            return body(Bytes(key))
        }
    }
}
