import SpatialIndex

/// The distinct coded values of a column: strings, large integers, points.
///
/// Values stay for good, whether a cell still has them or not; `count` tells when there are so many
/// more than objects that the column is better made anew.
struct ValueDictionary: Sendable {
    private var arena = ByteArena()
    /// Where the values are in the arena, in the order in which they came.
    private var addresses = PersistentArray<ByteArena.Address>()
    /// Finds a value's place in that order.
    private var table = IDTable()

    var count: Int { addresses.count }

    typealias Bytes = ByteArena.Bytes

    /// The bytes of a value: a kind, then the value itself.
    func bytes(of cell: Cell) -> Bytes {
        Bytes(rebasing: arena.bytes(at: cell.address).dropFirst())
    }

    /// The cell of a value, if the dictionary has it.
    func find(_ kind: Cell.Coded, _ value: Bytes) -> Cell? {
        Self.withKey(kind, value) { key in place(of: key).map { Cell(kind, at: addresses[Int($0)]) }
        }
    }

    private func place(of key: Bytes) -> Slot? {
        table.find(key, below: Slot(count)) { self.key(at: $0) }
    }

    private func key(at place: Slot) -> Bytes { arena.bytes(at: addresses[Int(place)]) }

    /// The cell of a value; `unknown` for one that is too long to be kept.
    mutating func intern(_ kind: Cell.Coded, _ value: Bytes) -> Cell {
        guard value.count < ByteArena.maximumBytes else { return .unknown }
        return Self.withKey(kind, value) { key in
            if let known = place(of: key) { return Cell(kind, at: addresses[Int(known)]) }
            let (place, address) = (Slot(count), arena.append(key))
            addresses.append(address)
            // A copy for the closure, made only now: what is appended to is not shared with it.
            let own = self
            table.insert(place, id: key, where: { _ in true }) { own.key(at: $0) }
            return Cell(kind, at: address)
        }
    }

    var memoryBytes: Int { arena.memoryBytes + addresses.memoryBytes + table.memoryBytes }

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
