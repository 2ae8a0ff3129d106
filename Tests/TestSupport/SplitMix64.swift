/// The same numbers for the same seed everywhere.
///
///     var random = SplitMix64(seed: 7)
///     random.pick(["a", "b"])
///
/// - Reference: Steele, Lea and Flood, "Fast Splittable Pseudorandom Number Generators", 2014.
public struct SplitMix64: RandomNumberGenerator, Sendable {
    private var state: UInt64

    public init(seed: UInt64) { state = seed }

    public mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
        return mixed ^ (mixed >> 31)
    }

    /// A number from 0 up to, not including, a limit.
    public mutating func below(_ limit: Int) -> Int { Int.random(in: 0..<limit, using: &self) }

    public mutating func pick<Element>(_ elements: [Element]) -> Element {
        elements[below(elements.count)]
    }

    /// True once in so many times.
    public mutating func oneIn(_ times: Int) -> Bool { below(times) == 0 }

    public mutating func number(_ range: ClosedRange<Double>) -> Double {
        Double.random(in: range, using: &self)
    }
}
