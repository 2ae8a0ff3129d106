import CGlibc
import CLanes

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
    /// - Complexity: O(slots): about half a nanosecond each, less if only few codes pass, or all but
    ///   few.
    public init(
        of codes: PersistentArray<UInt8>, below codeCount: Int, where isMember: (Int) -> Bool
    ) {
        self.init(of: codes, below: codeCount, where: isMember, gb_bytes_among)
    }

    /// The same for codes of 16 bits.
    public init(
        of codes: PersistentArray<UInt16>, below codeCount: Int, where isMember: (Int) -> Bool
    ) {
        self.init(of: codes, below: codeCount, where: isMember, gb_shorts_among)
    }

    /// Up to so many codes are compared with each slot's. With more, each slot's is looked up in a table.
    private static let comparedCodes = 8

    /// How many groups of 64 slots before its turn a group is fetched into the cache.
    private static let groupsAhead = 24

    /// - Parameter among: tells which of 64 codes are among some others, one bit each.
    @inline(__always)
    private init<Code: FixedWidthInteger & Sendable>(
        of codes: PersistentArray<Code>, below codeCount: Int, where isMember: (Int) -> Bool,
        _ among: (UnsafePointer<Code>, UnsafePointer<Code>, Int) -> UInt64
    ) {
        // 1 or 0 for each code, so that a look into the table needs no branch.
        let members: [UInt64] = (0..<codeCount).map { isMember($0) ? 1 : 0 }
        words = Array(repeating: 0, count: (codes.count + 63) / 64)
        // The rarer answer, as all other codes have the other.
        let rarer: UInt64 = members.reduce(0, +) <= UInt64(codeCount / 2) ? 1 : 0
        let few = members.indices.filter { members[$0] == rarer }.map { Code($0) }
        let compared = few.count <= Self.comparedCodes ? codes.count / 64 : 0
        for number in words.indices {
            let group = codes.chunk(at: number * 64) + (number * 64 & ChunkShape.elementMask)
            if number < compared {
                // Chunks lie apart, so the processor does not foresee the next one.
                let ahead = (number + Self.groupsAhead) * 64
                if ahead < codes.count {
                    gb_prefetch(codes.chunk(at: ahead) + (ahead & ChunkShape.elementMask))
                }
                let found = among(group, few, few.count)
                words[number] = rarer == 1 ? found : ~found
                continue
            }
            var word: UInt64 = 0
            for bit in 0..<min(64, codes.count - number * 64) {
                word |= members[Int(group[bit])] &<< UInt64(bit)
            }
            words[number] = word
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
