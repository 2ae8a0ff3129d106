/// A set of slots, one bit for each slot below a bound.
public struct SlotSet: Sendable {
    @usableFromInline var words: [UInt64]

    /// A set of some slots.
    ///
    /// - Parameter bound: a number above all of them.
    public init(_ slots: [Slot], below bound: Int) {
        precondition(slots.allSatisfy { $0 < bound }, "a slot that is not below \(bound)")
        words = Array(repeating: 0, count: (bound + 63) / 64)
        words.withUnsafeMutableBufferPointer { words in
            for slot in slots { words[Int(slot / 64)] |= 1 << UInt64(slot % 64) }
        }
    }

    /// Whether a slot, any at all, is in the set.
    @inlinable
    public func contains(_ slot: Slot) -> Bool {
        word(Int(slot / 64)) >> UInt64(slot % 64) & 1 == 1
    }

    /// The slots from 64 times a number on, one bit each.
    @inlinable
    public func word(_ number: Int) -> UInt64 { number < words.count ? words[number] : 0 }

    /// The slots whose codes pass a test, which is asked once for each code.
    ///
    /// - Parameters:
    ///   - codes: a code for each slot, below `codeCount`.
    ///   - isMember: asked for each code.
    /// - Complexity: O(slots), about half a nanosecond each.
    @inlinable
    public init<Code: FixedWidthInteger & Sendable>(
        of codes: PersistentArray<Code>, below codeCount: Int, where isMember: (Int) -> Bool
    ) {
        words = Array(repeating: 0, count: (codes.count + 63) / 64)
        withUnsafeTemporaryAllocation(of: UInt64.self, capacity: codeCount) { members in
            for code in 0..<codeCount {
                members.initializeElement(at: code, to: isMember(code) ? 1 : 0)
            }
            for number in words.indices {
                let chunk = codes.chunk(at: number * 64) + (number * 64 & ChunkShape.elementMask)
                var word: UInt64 = 0
                for bit in 0..<min(64, codes.count - number * 64) {
                    word |= members[Int(chunk[bit])] &<< UInt64(bit)
                }
                words[number] = word
            }
        }
    }

    /// The number of slots.
    ///
    /// - Complexity: O(slots / 64).
    public var count: Int { words.reduce(0) { $0 + $1.nonzeroBitCount } }

    /// The slots in ascending order.
    public var slots: [Slot] {
        var found: [Slot] = []
        for (number, word) in zip(Slot(0)..., words) {
            var rest = word
            while rest != 0 {
                found.append(number << 6 | Slot(rest.trailingZeroBitCount))
                rest &= rest - 1
            }
        }
        return found
    }
}
