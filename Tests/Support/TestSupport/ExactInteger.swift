import JSONText

/// An integer of any size, for exact arithmetic that shares nothing with what it tests.
public struct ExactInteger: Comparable, Sendable {
    private var isNegative = false
    /// The lowest word first, without zeros at the end.
    private var words: [UInt32] = []

    public init(_ value: Int128) {
        isNegative = value < 0
        var rest = value.magnitude
        while rest > 0 {
            words.append(UInt32(truncatingIfNeeded: rest))
            rest >>= 32
        }
    }

    /// A number times 2^1074, which is whole for every binary64.
    public init(scaled number: JSONNumber) {
        switch number {
        case .integer(let value): self = ExactInteger(Int128(value)).shifted(by: Self.scale)
        case .unsigned(let value): self = ExactInteger(Int128(value)).shifted(by: Self.scale)
        case .decimal(let value):
            let exponent = max(Int(value.exponentBitPattern), 1)
            let hidden: UInt64 = value.exponentBitPattern == 0 ? 0 : 1 << 52
            let whole = Int128(value.significandBitPattern | hidden)
            self = ExactInteger(value < 0 ? -whole : whole).shifted(by: exponent - 1)
        }
    }

    public static let scale = 1_074

    public func shifted(by bits: Int) -> ExactInteger {
        var result = self
        for _ in 0..<bits % 32 { result = result + result }
        if !result.words.isEmpty {
            result.words.insert(contentsOf: [UInt32](repeating: 0, count: bits / 32), at: 0)
        }
        return result
    }

    // MARK: Arithmetic

    public static func + (a: ExactInteger, b: ExactInteger) -> ExactInteger {
        if a.isNegative == b.isNegative {
            return ExactInteger(a.isNegative, sum(a.words, b.words))
        }
        return isLess(a.words, b.words)
            ? ExactInteger(b.isNegative, difference(b.words, a.words))
            : ExactInteger(a.isNegative, difference(a.words, b.words))
    }

    public static func * (a: ExactInteger, factor: Int) -> ExactInteger {
        var carry: UInt64 = 0
        var words: [UInt32] = []
        for word in a.words + [0, 0] {
            let product = UInt64(word) * UInt64(factor) + carry
            words.append(UInt32(truncatingIfNeeded: product))
            carry = product >> 32
        }
        return ExactInteger(a.isNegative, words)
    }

    public static func < (a: ExactInteger, b: ExactInteger) -> Bool {
        if a.isNegative != b.isNegative { return a.isNegative }
        return a.isNegative ? isLess(b.words, a.words) : isLess(a.words, b.words)
    }

    /// The decimal digits of the number divided by 2^1074, which has to leave nothing.
    public var unscaledDigits: String {
        var rest = Array(halved(Self.scale).words.reversed())
        var digits: [String] = []
        while rest.contains(where: { $0 != 0 }) {
            var remainder: UInt64 = 0
            for index in rest.indices {
                let value = remainder << 32 | UInt64(rest[index])
                rest[index] = UInt32(value / 10)
                remainder = value % 10
            }
            digits.append("\(remainder)")
        }
        if digits.isEmpty { return "0" }
        return (isNegative ? "-" : "") + digits.reversed().joined()
    }

    private func halved(_ times: Int) -> ExactInteger {
        var words = Array(words.dropFirst(times / 32))
        for _ in 0..<times % 32 {
            for index in words.indices {
                let next = index + 1 < words.count ? words[index + 1] : 0
                words[index] = words[index] >> 1 | next << 31
            }
        }
        return ExactInteger(isNegative, words)
    }

    /// The binary64 nearest to this number divided by `count` and by 2^1074, ties to even; nil beyond
    /// the range. It is searched for among all binary64 numbers.
    public func nearest(dividedBy count: Int = 1) -> Double? {
        let magnitude = ExactInteger(false, words)
        func isAtMost(_ bits: UInt64) -> Bool {
            !(magnitude < ExactInteger(scaled: .decimal(Double(bitPattern: bits))) * count)
        }
        var (low, high): (UInt64, UInt64) = (0, Double.infinity.bitPattern)
        while high - low > 1 {
            let middle = low + (high - low) / 2
            if isAtMost(middle) { low = middle } else { high = middle }
        }
        // The successor of the greatest finite number counts as 2^1024.
        let below = ExactInteger(scaled: .decimal(Double(bitPattern: low)))
        let above =
            high == Double.infinity.bitPattern
            ? ExactInteger(1).shifted(by: 1_024 + Self.scale)
            : ExactInteger(scaled: .decimal(Double(bitPattern: high)))
        let (double, middle) = (magnitude + magnitude, (below + above) * count)
        let isUp = middle < double || (!(double < middle) && low & 1 == 1)
        let value = Double(bitPattern: isUp ? high : low)
        guard value.isFinite else { return nil }
        return isNegative ? -value : value
    }

    // MARK: Words

    private init(_ isNegative: Bool, _ words: [UInt32]) {
        self.words = words
        while self.words.last == 0 { self.words.removeLast() }
        self.isNegative = isNegative && !self.words.isEmpty
    }

    private static func isLess(_ a: [UInt32], _ b: [UInt32]) -> Bool {
        a.count != b.count
            ? a.count < b.count : a.reversed().lexicographicallyPrecedes(b.reversed())
    }

    private static func sum(_ a: [UInt32], _ b: [UInt32]) -> [UInt32] {
        var carry: UInt64 = 0
        return (0...max(a.count, b.count)).map { index in
            let sum = UInt64(word(a, index)) + UInt64(word(b, index)) + carry
            carry = sum >> 32
            return UInt32(truncatingIfNeeded: sum)
        }
    }

    /// - Parameter b: not greater than `a`.
    private static func difference(_ a: [UInt32], _ b: [UInt32]) -> [UInt32] {
        var borrow: Int64 = 0
        return a.indices.map { index in
            var rest = Int64(a[index]) - Int64(word(b, index)) - borrow
            borrow = rest < 0 ? 1 : 0
            rest += borrow << 32
            return UInt32(rest)
        }
    }

    private static func word(_ words: [UInt32], _ index: Int) -> UInt32 {
        index < words.count ? words[index] : 0
    }
}
