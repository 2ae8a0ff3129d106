import PlainJSON

/// The exact sum of numbers, which no order of addition changes.
///
///     var sum = ExactSum()
///     for value in [1e308, 0.5, -1e308] { sum.add(value) }
///     sum.rounded                                             // 0.5
///
/// Whole numbers below 2^62 are added as integers. Any other number is added to the integer of its
/// exponent. These integers have 128 bits, so that 2^60 additions overflow none.
public struct ExactSum: Sendable {
    @usableFromInline
    var integers: Int128 = 0
    /// Sums of significands, by the exponent's bits; empty until one is needed.
    @usableFromInline
    var significands: [Int128] = []
    @usableFromInline
    var hasFractions = false

    /// The sum of no numbers.
    public init() {}

    // MARK: Adding

    /// Adds a finite number some times.
    @inlinable
    public mutating func add(_ value: Double, times: Int = 1) {
        if value.magnitude < 0x1p62 {
            let integer = Int64(value)
            if Double(integer) == value {
                integers += Int128(integer) * Int128(times)
                return
            }
            hasFractions = true
        }
        addSignificand(of: value, times)
    }

    @inlinable
    mutating func addSignificand(of value: Double, _ times: Int) {
        if significands.isEmpty { significands = [Int128](repeating: 0, count: 2_047) }
        let exponent = Int(value.exponentBitPattern)
        let significand = Int128(value.significandBitPattern | (exponent == 0 ? 0 : 1 << 52))
        significands[exponent] += Int128(value < 0 ? -times : times) * significand
    }

    /// Adds a number some times.
    public mutating func add(_ number: JSONNumber, times: Int = 1) {
        switch number {
        case .integer(let value): integers += Int128(value) * Int128(times)
        case .unsigned(let value): integers += Int128(value) * Int128(times)
        case .decimal(let value): add(value, times: times)
        }
    }

    // MARK: Results

    /// Whether no number had a fractional part.
    public var isWhole: Bool { !hasFractions }

    /// The sum rounded once to binary64, ties to even; infinite beyond its range.
    public var rounded: Double {
        let (isNegative, magnitude) = total
        return Self.nearest(magnitude, isNegative, hasRest: false)
    }

    /// The sum divided by a count, rounded once to binary64, ties to even.
    public func divided(by count: Int) -> Double {
        var (isNegative, magnitude) = total
        let rest = magnitude.divide(by: UInt64(count))
        return Self.nearest(magnitude, isNegative, hasRest: rest != 0)
    }

    /// The digits of a sum of whole numbers, after a sign if it is negative.
    public var wholeDigits: String {
        precondition(isWhole, "a sum of decimals has no whole digits")
        var (isNegative, magnitude) = total
        magnitude.dropWords(Self.fractionBits / 64)
        return (isNegative ? "-" : "") + magnitude.digits
    }

    /// The bits of a total behind its binary point: the 1,074 of binary64, and 64 or more for what a
    /// division leaves.
    private static let fractionBits = 1_152

    /// The sum times 2 to the power of `fractionBits`. A sum of 0 is not negative.
    private var total: (isNegative: Bool, magnitude: WideNatural) {
        var (above, below) = (WideNatural(), WideNatural())
        func add(_ amount: Int128, timesTwoTo power: Int) {
            let shift = Self.fractionBits + power
            if amount < 0 {
                below.add(amount.magnitude, shiftedBy: shift)
            } else {
                above.add(amount.magnitude, shiftedBy: shift)
            }
        }
        add(integers, timesTwoTo: 0)
        for (exponent, amount) in significands.enumerated() where amount != 0 {
            add(amount, timesTwoTo: max(exponent, 1) - 1_075)
        }
        let isNegative = above < below
        if isNegative { swap(&above, &below) }
        above.subtract(below)
        return (isNegative, above)
    }

    /// - Parameter hasRest: whether the exact value is greater than the magnitude, by less than one.
    private static func nearest(
        _ magnitude: WideNatural, _ isNegative: Bool, hasRest: Bool
    ) -> Double {
        let lowest = max(magnitude.bitWidth - 53, fractionBits - 1_074)
        var significand = magnitude.bits(from: lowest)
        let hasHalf = magnitude.bits(from: lowest - 1) & 1 == 1
        let hasMore = hasRest || magnitude.hasBits(below: lowest - 1)
        if hasHalf && (hasMore || significand & 1 == 1) { significand += 1 }
        let value = Double(
            sign: .plus, exponent: lowest - fractionBits, significand: Double(significand))
        return isNegative ? -value : value
    }
}
