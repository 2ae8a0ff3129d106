import SyntheticData

/// The same numbers for the same seed everywhere.
///
///     var random = SplitMix64(seed: 7)
///     random.pick(["a", "b"])
public typealias SplitMix64 = SyntheticData.SplitMix64

extension SplitMix64 {
    public mutating func pick<Element>(_ elements: [Element]) -> Element {
        elements[below(elements.count)]
    }

    /// True once in so many times.
    public mutating func oneIn(_ times: Int) -> Bool { below(times) == 0 }
}
