/// A percentile of latency, and the latency that it must not exceed.
///
///     try Objective("p99=5ms")        // 99 of 100 requests answered within 5 ms
public struct Objective: Sendable, Equatable, CustomStringConvertible {
    /// Above 0, below 100.
    public let percentile: Double
    /// The latency that the percentile must not exceed: at most an hour.
    public let nanoseconds: UInt64
    /// The text that it was read from.
    public let description: String

    private static let units: [(name: String, nanoseconds: Double)] = [
        ("us", 1e3), ("ms", 1e6), ("s", 1e9),
    ]

    /// Parses `pPERCENTILE=LATENCY`, the latency in `us`, `ms` or `s`.
    ///
    /// - Throws: `LoadFailure`.
    public init(_ text: String) throws(LoadFailure) {
        let sides = text.split(separator: "=", omittingEmptySubsequences: false)
        guard sides.count == 2, sides[0].first == "p",
            let percentile = Double(sides[0].dropFirst()), percentile > 0, percentile < 100,
            let nanoseconds = Self.nanoseconds(sides[1])
        else {
            throw LoadFailure("\"\(text)\" is no objective such as p99=5ms or p99.9=1s")
        }
        self.percentile = percentile
        self.nanoseconds = nanoseconds
        description = text
    }

    private static func nanoseconds(_ text: Substring) -> UInt64? {
        guard let unit = units.first(where: { text.hasSuffix($0.name) }),
            let number = Double(text.dropLast(unit.name.count)), number.isFinite, number > 0,
            number * unit.nanoseconds <= 3.6e12
        else { return nil }
        return UInt64(number * unit.nanoseconds)
    }

    /// Whether enough requests were fast enough; a failed one never counts, however fast it was.
    func isHeld(by tally: Tally) -> Bool {
        let kept = Double(tally.count - tally.slowerOrFailed(than: nanoseconds))
        return kept * 100 >= percentile * Double(tally.count)
    }
}
