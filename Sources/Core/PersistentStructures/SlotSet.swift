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
}
