/// A set of distinct values, each made of bytes and a kind and identified by an address. A copy
/// shares all earlier values.
///
///     var names = ByteDictionary()
///     let oslo = names.intern(text, kind: 1)!       // the same address for equal bytes
///     names.bytes(at: oslo)                         // the text
///
/// Values are never removed. If `count` shows far more values than are needed, the dictionary
/// should be rebuilt.
///
/// - Complexity: lookups are O(1) expected. A value takes its own bytes, about ten more, and its
///   cell in the table (see `IDTable`).
/// - Note: Only one copy at a time may intern values. Readers need no lock.
public struct ByteDictionary: Sendable {
    /// Identifies a value for as long as the dictionary or a copy of it exists.
    public typealias Address = UInt32

    @usableFromInline
    var arena = ByteArena()
    /// The addresses of the values in the arena, in the order of insertion.
    private var addresses = PersistentArray<Address>()
    /// Finds a value's index in `addresses`.
    private var table = IDTable()

    /// An empty dictionary.
    package init() {}

    /// The number of values.
    package var count: Int { addresses.count }

    /// The mean length of a value in bytes, accurate to some bytes; 0 if there is none.
    package var averageBytes: Int { count == 0 ? 0 : arena.usedBytes / count }

    /// The memory of the dictionary in bytes, as if it shared nothing with its copies.
    package var memoryBytes: Int { arena.memoryBytes + addresses.memoryBytes + table.memoryBytes }

    /// The bytes of a value, without its kind.
    @inlinable
    public func bytes(at address: Address) -> Bytes {
        Bytes(rebasing: arena.bytes(at: address).dropFirst())
    }

    /// The address of a value; nil if the dictionary does not contain it.
    package func address(of value: Bytes, kind: UInt8) -> Address? {
        Self.withKey(value, kind) { key in position(of: key).map { addresses[Int($0)] } }
    }

    /// The address of a value, which is added if it is new; nil if the value is too long.
    package mutating func intern(_ value: Bytes, kind: UInt8) -> Address? {
        guard value.count < ByteArena.maximumBytes else { return nil }
        return Self.withKey(value, kind) { key in
            if let known = position(of: key) { return addresses[Int(known)] }
            let (position, address) = (Slot(count), arena.append(key))
            addresses.append(address)
            // The closure needs a copy. It is made only now, so that the appends above write to
            // unshared memory.
            let own = self
            table.insert(position, id: key, where: { _ in true }) { own.key(at: $0) }
            return address
        }
    }

    private func position(of key: Bytes) -> Slot? {
        table.find(key, below: Slot(count)) { self.key(at: $0) }
    }

    private func key(at position: Slot) -> Bytes { arena.bytes(at: addresses[Int(position)]) }

    /// Calls `body` with the key of a value: its kind followed by its bytes.
    private static func withKey<Result>(
        _ value: Bytes, _ kind: UInt8, _ body: (Bytes) -> Result
    ) -> Result {
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: value.count + 1) { key in
            key[0] = kind
            for (position, byte) in value.enumerated() { key[position + 1] = byte }
            return body(Bytes(key))
        }
    }
}
