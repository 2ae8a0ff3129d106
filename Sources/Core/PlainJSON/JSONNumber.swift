/// A JSON number by value: an integer literal keeps its 64 bits, anything else is the nearest
/// binary64.
///
///     JSONNumber.integer(9_007_199_254_740_993) > .decimal(9_007_199_254_740_992)   // true
///
/// Comparison is exact across the three cases: no integer is converted to binary64 first.
public enum JSONNumber: Sendable, Comparable, Hashable {
    /// A literal without fraction or exponent that fits 64 signed bits.
    case integer(Int64)
    /// Only for values above `Int64.max`.
    case unsigned(UInt64)
    /// Finite.
    case decimal(Double)

    /// The nearest binary64.
    public var double: Double {
        switch self {
        case .integer(let value): Double(value)
        case .unsigned(let value): Double(value)
        case .decimal(let value): value
        }
    }

    /// Whether the value has no fractional part: `1`, `1.0` and `1e300` have none.
    public var isWhole: Bool {
        if case .decimal(let value) = self { return value.rounded(.towardZero) == value }
        return true
    }

    /// The value as an `Int`, when it is whole and fits one.
    public var exactInt: Int? {
        switch self {
        case .integer(let value): Int(value)
        case .unsigned: nil
        case .decimal(let value): Int(exactly: value)
        }
    }

    /// By exact value, whatever the spelling.
    public static func < (a: JSONNumber, b: JSONNumber) -> Bool { a.order(b) < 0 }

    /// By exact value: 1 equals 1.0, and 2^53 + 1 no binary64.
    public static func == (a: JSONNumber, b: JSONNumber) -> Bool { a.order(b) == 0 }

    public func hash(into hasher: inout Hasher) {
        let key = floored
        hasher.combine(key.floor)
        hasher.combine(key.rest)
    }

    /// The value as a binary64 not above it and what that leaves: 0 for decimals, 0...2047 for
    /// integers. The pairs order as the values do, and equal values have equal pairs.
    ///
    /// Inequality: `floor <= value`, and `value == floor + rest` exactly.
    public var floored: (floor: Double, rest: UInt16) {
        switch self {
        case .decimal(let value):
            return (value == 0 ? 0 : value, 0)  // -0.0 is 0.0
        case .integer(let value):
            var floor = Double(value)
            // 2^63 itself is no Int64: rounding up past Int64.max is seen before converting back.
            if floor >= 0x1p63 || Int64(floor) > value { floor = floor.nextDown }
            return (floor, UInt16(value - Int64(floor)))
        case .unsigned(let value):
            var floor = Double(value)
            if floor >= 0x1p64 || UInt64(floor) > value { floor = floor.nextDown }
            return (floor, UInt16(value - UInt64(floor)))
        }
    }

    /// The number of a pair as `floored` returns it, in its canonical spelling.
    public init(floor: Double, rest: UInt16) {
        if rest == 0 {
            self = JSONNumber.decimal(floor).canonical
        } else if floor < 0 {
            self = .integer(Int64(floor) + Int64(rest))
        } else {
            let value = UInt64(floor) + UInt64(rest)
            self = Int64(exactly: value).map { .integer($0) } ?? .unsigned(value)
        }
    }

    /// The same number in the one spelling that all equal numbers share: an integer if it fits 64
    /// bits, otherwise a decimal.
    public var canonical: JSONNumber {
        guard case .decimal(let value) = self else { return self }
        if let integer = Int64(exactly: value) { return .integer(integer) }
        return UInt64(exactly: value).map { .unsigned($0) } ?? self
    }

    private func order(_ other: JSONNumber) -> Int {
        switch (self, other) {
        case (.integer(let a), .integer(let b)): return a < b ? -1 : (a == b ? 0 : 1)
        case (.decimal(let a), .decimal(let b)): return a < b ? -1 : (a == b ? 0 : 1)
        default:
            let (a, b) = (floored, other.floored)
            if a.floor != b.floor { return a.floor < b.floor ? -1 : 1 }
            return a.rest < b.rest ? -1 : (a.rest == b.rest ? 0 : 1)
        }
    }
}
