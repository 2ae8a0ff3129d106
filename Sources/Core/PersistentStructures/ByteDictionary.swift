/// Distinct values of some bytes and a kind, each named by its address: a copy shares what was there
/// before.
///
///     var names = ByteDictionary()
///     let oslo = names.intern(text, kind: 1)!       // the same address for equal bytes
///     names.bytes(at: oslo)                         // the text
///
/// Values stay for good; `count` tells when there are so many more than are needed that the dictionary
/// is better made anew.
///
/// - Complexity: O(1), expected where a value is looked for; a value's bytes, some ten more, and what
///   its cell in the table takes (see `IDTable`).
/// - Note: Writers are in turn: of several copies one at a time interns. Readers need no lock.
public struct ByteDictionary: Sendable {
    /// Names a value for as long as the dictionary or a copy of it lasts.
    public typealias Address = UInt32

    @usableFromInline
    var arena = ByteArena()
    /// Where the values are in the arena, in the order in which they came.
    private var addresses = PersistentArray<Address>()
    /// Finds a value's place in that order.
    private var table = IDTable()

    /// A dictionary without values.
    package init() {}

    /// How many values there are.
    package var count: Int { addresses.count }

    /// What the dictionary occupies, in bytes, as if it shared nothing with its copies.
    package var memoryBytes: Int { arena.memoryBytes + addresses.memoryBytes + table.memoryBytes }

    /// The bytes of a value, without its kind.
    @inlinable
    public func bytes(at address: Address) -> Bytes {
        Bytes(rebasing: arena.bytes(at: address).dropFirst())
    }

    /// The address of a value, if the dictionary has it.
    package func address(of value: Bytes, kind: UInt8) -> Address? {
        Self.withKey(value, kind) { key in position(of: key).map { addresses[Int($0)] } }
    }

    /// The address of a value, which is added if it is new; nil for one that is too long to be kept.
    package mutating func intern(_ value: Bytes, kind: UInt8) -> Address? {
        guard value.count < ByteArena.maximumBytes else { return nil }
        return Self.withKey(value, kind) { key in
            if let known = position(of: key) { return addresses[Int(known)] }
            let (position, address) = (Slot(count), arena.append(key))
            addresses.append(address)
            // A copy for the closure, made only now: what is appended to is not shared with it.
            let own = self
            table.insert(position, id: key, where: { _ in true }) { own.key(at: $0) }
            return address
        }
    }

    private func position(of key: Bytes) -> Slot? {
        table.find(key, below: Slot(count)) { self.key(at: $0) }
    }

    private func key(at position: Slot) -> Bytes { arena.bytes(at: addresses[Int(position)]) }

    /// Calls `body` with a kind and, behind it, the bytes of a value.
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
