import JSONText

/// A number as a rational: a sign, an integer and a power of two. Every integer of 64 bits and
/// every finite binary64 is one exactly, so comparing two rounds nothing.
struct ExactNumber {
    /// -1, 0 or 1.
    let sign: Int
    /// The highest bit is set, or the number is 0.
    let significand: UInt64
    let exponent: Int

    init(_ number: JSONNumber) {
        switch number {
        case .integer(let value):
            self.init(sign: value.signum() < 0 ? -1 : 1, magnitude: value.magnitude, exponent: 0)
        case .unsigned(let value): self.init(sign: 1, magnitude: value, exponent: 0)
        case .decimal(let value):
            let bits = value.bitPattern
            let fraction = bits & (1 << 52 - 1)
            let biased = Int(bits >> 52 & 0x7FF)
            self.init(
                sign: bits >> 63 == 1 ? -1 : 1,
                magnitude: biased == 0 ? fraction : fraction | 1 << 52,
                exponent: max(biased, 1) - 1075)
        }
    }

    private init(sign: Int, magnitude: UInt64, exponent: Int) {
        guard magnitude != 0 else {
            (self.sign, significand, self.exponent) = (0, 0, 0)
            return
        }
        let shift = magnitude.leadingZeroBitCount
        self.sign = sign
        significand = magnitude << UInt64(shift)
        self.exponent = exponent - shift
    }

    /// Negative, 0 or positive, as this is less than, equal to or greater than the other.
    func compare(_ other: ExactNumber) -> Int {
        if sign != other.sign { return sign < other.sign ? -1 : 1 }
        if sign == 0 { return 0 }
        if exponent != other.exponent { return exponent < other.exponent ? -sign : sign }
        if significand == other.significand { return 0 }
        return significand < other.significand ? -sign : sign
    }

    var isWhole: Bool { sign == 0 || significand.trailingZeroBitCount + exponent >= 0 }
}
