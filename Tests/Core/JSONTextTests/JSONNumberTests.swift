import JSONText
import TestSupport
import Testing

/// Exact comparison of numbers against one by decimal digits, which is slow and plainly right.
@Suite struct JSONNumberTests {
    /// A finite number as sign and decimal digits before and after the point.
    struct Decimal: Comparable {
        var isNegative: Bool
        var whole: [UInt8]
        var fraction: [UInt8]

        init(_ number: JSONNumber) {
            switch number {
            case .integer(let value):
                self.init(value < 0, Self.digits(value.magnitude), [])
            case .unsigned(let value): self.init(false, Self.digits(UInt64(value)), [])
            case .decimal(let value): self.init(value)
            }
        }

        private init(_ isNegative: Bool, _ whole: [UInt8], _ fraction: [UInt8]) {
            self.whole = Array(whole.drop { $0 == 0 })
            self.fraction = fraction
            while self.fraction.last == 0 { self.fraction.removeLast() }
            self.isNegative = isNegative && !(self.whole.isEmpty && self.fraction.isEmpty)
        }

        /// significand · 2^exponent, doubled or halved digit by digit.
        private init(_ value: Double) {
            let significand = value.magnitude.significandBits
            var (whole, fraction) = (Self.digits(significand.digits), [UInt8]())
            for _ in 0..<max(0, significand.exponent) {
                var carry: UInt8 = 0
                for index in whole.indices.reversed() {
                    let doubled = whole[index] * 2 + carry
                    (whole[index], carry) = (doubled % 10, doubled / 10)
                }
                if carry > 0 { whole.insert(carry, at: 0) }
            }
            for _ in 0..<max(0, -significand.exponent) {
                var rest: UInt8 = 0
                for index in whole.indices {
                    let digit = whole[index] + rest * 10
                    (whole[index], rest) = (digit / 2, digit % 2)
                }
                for index in fraction.indices {
                    let digit = fraction[index] + rest * 10
                    (fraction[index], rest) = (digit / 2, digit % 2)
                }
                if rest > 0 { fraction.append(5) }
            }
            self.init(value < 0, whole, fraction)
        }

        private static func digits(_ value: UInt64) -> [UInt8] {
            String(value).utf8.map { $0 - UInt8(ascii: "0") }
        }

        static func < (a: Decimal, b: Decimal) -> Bool {
            if a.isNegative != b.isNegative { return a.isNegative }
            return a.isNegative ? b.isSmaller(a) : a.isSmaller(b)
        }

        private func isSmaller(_ other: Decimal) -> Bool {
            if whole.count != other.whole.count { return whole.count < other.whole.count }
            if whole != other.whole { return whole.lexicographicallyPrecedes(other.whole) }
            return fraction.lexicographicallyPrecedes(other.fraction)
        }
    }

    /// Numbers of all three cases about the places where they meet, and some from all over.
    static func numbers(seed: UInt64) -> [JSONNumber] {
        var random = SplitMix64(seed: seed)
        let edges: [Double] = [
            0, -0.0, 0x1p52, 0x1p53, 0x1p54, 0x1p62, 0x1p63, 0x1p64, 0x1p65, 0.5, 1e300,
            .leastNonzeroMagnitude, .greatestFiniteMagnitude,
        ]
        var numbers: [JSONNumber] = [
            .integer(.min), .integer(.min + 1), .integer(.max), .integer(.max - 1), .integer(0),
            .unsigned(.max), .unsigned(.max - 1), .unsigned(1 << 63), .unsigned(1 << 63 + 1),
        ]
        for edge in edges {
            for value in [edge, edge.nextUp, edge.nextDown, -edge] where value.isFinite {
                numbers.append(.decimal(value))
                if let whole = Int64(exactly: value.rounded()) {
                    numbers += [whole, whole &+ 1, whole &- 1].map(JSONNumber.integer)
                } else if let whole = UInt64(exactly: value.rounded()) {
                    numbers += [.unsigned(whole), .unsigned(whole &+ 1 | 1 << 63)]
                }
            }
        }
        for _ in 0..<40 {
            let bits = random.next() >> UInt64(random.below(64))
            numbers.append(.integer(Int64(truncatingIfNeeded: bits)))
            numbers.append(.decimal(Double(Int64(truncatingIfNeeded: bits))))
            numbers.append(.unsigned(bits | 1 << 63))
            numbers.append(.decimal(Double(bits | 1 << 63)))
        }
        return numbers
    }

    @Test(arguments: 1...3 as ClosedRange<UInt64>)
    func `Numbers compare by their exact values across all three cases`(_ seed: UInt64) {
        let numbers = Self.numbers(seed: seed)
        let oracle = numbers.map(Decimal.init)
        for i in numbers.indices {
            for j in numbers.indices {
                let (a, b) = (numbers[i], numbers[j])
                #expect((a < b) == (oracle[i] < oracle[j]), "\(a) < \(b), seed \(seed)")
                let isEqual = !(oracle[i] < oracle[j]) && !(oracle[j] < oracle[i])
                #expect((a == b) == isEqual, "\(a) == \(b), seed \(seed)")
                if isEqual { #expect(a.hashValue == b.hashValue, "\(a) and \(b), seed \(seed)") }
            }
        }
    }

    @Test(arguments: 1...3 as ClosedRange<UInt64>)
    func `The floor of a number is a binary64 not above it, and the rest makes it whole again`(
        _ seed: UInt64
    ) {
        for number in Self.numbers(seed: seed) {
            let (floor, rest) = number.floored
            #expect(.decimal(floor) <= number, "\(number)")
            switch number {
            case .integer(let value): #expect(Int64(floor) + Int64(rest) == value)
            case .unsigned(let value): #expect(UInt64(floor) + UInt64(rest) == value)
            case .decimal(let value): #expect(floor == value && rest == 0)
            }
        }
    }

    @Test func `A number is whole when it has no fractional part`() {
        for (number, isWhole) in [
            (.integer(1), true), (.unsigned(.max), true), (.decimal(1), true),
            (.decimal(-0.0), true),
            (.decimal(1e300), true), (.decimal(0.5), false), (.decimal(-1.5), false),
            (.decimal(.leastNonzeroMagnitude), false),
        ] as [(JSONNumber, Bool)] {
            #expect(number.isWhole == isWhole, "\(number)")
        }
        #expect(JSONNumber.decimal(7).exactInt == 7)
        #expect(JSONNumber.decimal(7.5).exactInt == nil)
        #expect(JSONNumber.decimal(1e300).exactInt == nil)
        #expect(JSONNumber.unsigned(1 << 63).exactInt == nil)
    }
}

extension Double {
    /// The value as an integer times a power of two.
    fileprivate var significandBits: (digits: UInt64, exponent: Int) {
        guard self != 0 else { return (0, 0) }
        let isNormal = exponentBitPattern != 0
        let digits = significandBitPattern | (isNormal ? 1 << 52 : 0)
        return (digits, (isNormal ? Int(exponentBitPattern) : 1) - 1_075)
    }
}
