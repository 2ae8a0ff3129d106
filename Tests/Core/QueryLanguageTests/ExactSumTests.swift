import JSONText
import Objects
import QueryLanguage
import TestSupport
import Testing

/// Sums and averages against arithmetic with integers of any size.
@Suite struct ExactSumTests {
    private static let hard: [JSONNumber] = [
        .decimal(.leastNonzeroMagnitude), .decimal(-.leastNonzeroMagnitude),
        .decimal(.leastNormalMagnitude), .decimal(.leastNormalMagnitude.nextDown), .decimal(1e308),
        .decimal(-1e308),
        .decimal(.greatestFiniteMagnitude), .decimal(-.greatestFiniteMagnitude), .decimal(0.1),
        .decimal(-0.0), .decimal(0.5), .decimal(1), .decimal(0x1p52), .decimal(0x1p53),
        .integer(9_007_199_254_740_991), .integer(9_007_199_254_740_993), .integer(.min),
        .integer(.max), .unsigned(.max), .decimal(0x1p62), .decimal(0x1p63), .decimal(-0x1p63),
        .decimal(0x1p64), .decimal(0x1p-1022), .decimal(0x1p-53), .decimal(0x1.8p-53),
        .decimal(0x1p971), .decimal(-0x1p971), .decimal(1e16), .decimal(-1e16), .decimal(3.25),
    ]

    private static func check(_ numbers: [JSONNumber], _ context: String) {
        var sum = ExactSum()
        for number in numbers { sum.add(number) }
        let exact = numbers.map { ExactInteger(scaled: $0) }.reduce(ExactInteger(0), +)
        let isWhole = numbers.allSatisfy(\.isWhole)
        #expect(sum.isWhole == isWhole, "\(context)")
        if isWhole { #expect(sum.wholeDigits == exact.unscaledDigits, "\(context)") }
        #expect(
            (sum.rounded.isFinite ? sum.rounded : nil) == exact.nearest(), "\(context)")
        #expect(
            sum.divided(by: numbers.count) == exact.nearest(dividedBy: numbers.count),
            "\(context)")
    }

    @Test func `hard numbers alone and in pairs have exact sums`() {
        for a in Self.hard {
            Self.check([a], "\(a)")
            for b in Self.hard { Self.check([a, b], "\(a) + \(b)") }
        }
    }

    @Test(arguments: 1...30 as ClosedRange<UInt64>)
    func `sums and averages are rounded once, whatever the order`(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        for round in 0..<20 {
            let spread = random.pick([1, 60, 400, 2_000])
            var numbers = (0..<1 + random.below(40)).map { _ -> JSONNumber in
                if random.oneIn(3) { return random.pick(Self.hard) }
                if random.oneIn(4) { return .integer(Int64(bitPattern: random.next())) }
                let exponent = UInt64(1_023 - spread / 2 + random.below(spread))
                let fraction = random.oneIn(2) ? 0 : random.next() >> 12
                return .decimal(Double(bitPattern: random.next() << 63 | exponent << 52 | fraction))
            }
            // What cancels leaves the rest exactly.
            if random.oneIn(2) { numbers += numbers.dropFirst().map(Self.negated) }
            numbers.shuffle(using: &random)
            Self.check(numbers, "seed \(seed), round \(round): \(numbers)")
        }
    }

    @Test func `a carry runs through all that is full of ones`() {
        // Ones from 2^0 or 2^-1074 up to 2^53n, without a gap; then the last one is added.
        for (lowest, step) in [(1.0, 0x1p53), (.leastNonzeroMagnitude, 0x1p52)] {
            for count in [1, 2, 5, 12] {
                var numbers = (0..<count).map { number -> JSONNumber in
                    let scale = (0..<number).reduce(lowest) { scale, _ in scale * step }
                    return .decimal((step - 1) * scale)
                }
                Self.check(numbers, "\(count) from \(lowest)")
                numbers.append(.decimal(lowest))
                Self.check(numbers, "\(count) from \(lowest), and the last")
                Self.check(numbers.map(Self.negated), "\(count) from \(lowest), negative")
                Self.check(numbers + [.integer(-1)], "\(count) from \(lowest), less 1")
            }
        }
    }

    private static func negated(_ number: JSONNumber) -> JSONNumber {
        .decimal(-number.double)
    }

    @Test func `a number that is added some times counts as often`() {
        for number in Self.hard {
            for times in [1, 3, 1_000_003] {
                var sum = ExactSum()
                sum.add(number, times: times)
                let exact = ExactInteger(scaled: number) * times
                #expect((sum.rounded.isFinite ? sum.rounded : nil) == exact.nearest(), "\(number)")
                #expect(sum.divided(by: times) == number.double, "\(number)")
            }
        }
    }

    @Test func `half way between two binary64 numbers the even one is taken`() {
        func rounded(_ values: Double...) -> Double {
            var sum = ExactSum()
            for value in values { sum.add(value) }
            return sum.rounded
        }
        #expect(rounded(1, 0x1p-53) == 1)
        #expect(rounded(1, 0x1p-53, .leastNonzeroMagnitude) == 1.nextUp)
        #expect(rounded(1.nextUp, 0x1p-53) == 1.nextUp.nextUp)
        #expect(rounded(1e308, 1e308, -1e308, 0.5, -1e308) == 0.5)
        #expect(rounded(.greatestFiniteMagnitude, 0x1p969) == .greatestFiniteMagnitude)
        #expect(rounded(.greatestFiniteMagnitude, 0x1p970) == .infinity)
        #expect(rounded(.leastNonzeroMagnitude, -.leastNonzeroMagnitude) == 0)
    }

    @Test func `the average of the greatest numbers is one of them`() {
        var sum = ExactSum()
        sum.add(.greatestFiniteMagnitude, times: 5)
        #expect(sum.rounded == .infinity)
        #expect(sum.divided(by: 5) == .greatestFiniteMagnitude)
    }

    @Test func `a number has one canonical spelling`() {
        func text(_ number: JSONNumber) -> String {
            var writer = JSONWriter()
            writer.number(number.canonical)
            return String(decoding: writer.bytes, as: UTF8.self)
        }
        #expect(text(.decimal(-0.0)) == "0" && text(.decimal(1)) == "1")
        #expect(text(.decimal(0x1p63)) == "9223372036854775808")
        #expect(text(.decimal(0x1p64)) == "1.8446744073709552e+19")
        for number in Self.hard {
            let (floor, rest) = number.floored
            let again = JSONNumber(floor: floor, rest: rest)
            #expect(again == number && text(again) == text(number), "\(number)")
        }
    }
}
