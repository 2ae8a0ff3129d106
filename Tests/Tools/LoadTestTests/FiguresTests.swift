import Foundation
import TestSupport
import Testing

@testable import LoadTest

/// Numbers, tables and axes of reports.
@Suite struct FiguresTests {
    @Test(arguments: Seeds.first(20))
    func `A number is the nearest of three significant digits`(_ seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        for _ in 0..<500 {
            let sign = random.oneIn(2) ? 1.0 : -1.0
            let value = sign * pow(10, random.number(-2...9)) * random.number(0.1...1)
            let shown = Figures.number(value)
            let text = shown.replacing(",", with: "").replacing("−", with: "-")
            let found = try #require(Double(text), "seed \(seed): \(value) is \(shown)")
            let magnitude = Int(log10(abs(value)).rounded(.down))
            // From a thousand on all whole digits are shown; never more than four decimals.
            let unit = max(pow(10, Double(min(magnitude, 2) - 2)), 1e-4)
            #expect(abs(found - value) <= unit * 0.500_001, "seed \(seed): \(value) is \(shown)")
            #expect(!text.contains(".") || text.last != "0", "seed \(seed): \(value) is \(shown)")
        }
    }

    @Test(arguments: [
        (0, "0"), (7, "7"), (999, "999"), (1_000, "1,000"), (-1_000, "-1,000"), (-999, "-999"),
        (123_456, "123,456"), (-123_456, "-123,456"), (1_000_000, "1,000,000"),
    ])
    func `Whole numbers have a comma before each three digits`(_ value: Int, _ text: String) {
        #expect(Figures.count(value) == text)
    }

    @Test(arguments: [
        (2.0, 3.0, "+50 %"), (3, 2, "−33.3 %"), (5, 5, "0 %"), (0, 0, "0 %"), (0, 4, "–"),
        (4, 0, "−100 %"), (1, 11, "+1,000 %"),
    ])
    func `A change is relative to the first number, of which 0 has none`(
        _ from: Double, _ to: Double, _ text: String
    ) {
        #expect(Figures.change(from: from, to: to) == text)
    }

    @Test func `What is no number is shown as such`() {
        #expect(Figures.number(.nan) == "–" && Figures.number(.infinity) == "–")
    }

    @Test func `A table's first column stands left, the others right, and short rows are short`() {
        var table = TextTable(["rate", "p50", "objective"])
        table.add(["1,000", "0.2"])
        table.add(["é", "12.25", "held"])
        #expect(
            table.text == """
                rate     p50  objective
                1,000    0.2
                é      12.25       held

                """)
    }

    @Test(arguments: Seeds.first(20))
    func `Every value has a place on its axis, in order, and the ticks are round`(_ seed: UInt64)
        throws
    {
        var random = SplitMix64(seed: seed)
        let scale = pow(10, random.number(-3...8))
        let values = (0..<30).map { _ in random.number(0.001...1) * scale }.sorted()
        for (name, axis) in [
            ("linear", Axis.linear(values)), ("logarithmic", .logarithmic(values)),
            ("nines", .nines(values.map { 100 - 100 * $0 / scale * 0.999 })),
        ] {
            let places = name == "nines" ? [] : values.map(axis.position)
            #expect(places.allSatisfy { (0...1).contains($0) }, "seed \(seed), \(name): \(places)")
            #expect(places == places.sorted(), "seed \(seed), \(name)")
            let ticks = axis.ticks.map { axis.position($0.value) }
            #expect(ticks.count >= 2 && ticks == ticks.sorted(), "seed \(seed), \(name)")
            #expect(ticks.allSatisfy { (-1e-9...1 + 1e-9).contains($0) }, "seed \(seed), \(name)")
            #expect(ticks.first == 0, "seed \(seed), \(name)")
        }
        for tick in Axis.linear(values).ticks.dropFirst() {
            let mantissa = tick.value / pow(10, log10(tick.value).rounded(.down))
            let digits = (mantissa * 10).rounded()
            #expect(abs(mantissa * 10 - digits) < 1e-6, "seed \(seed): \(tick.value)")
        }
    }

    @Test func `Each nine takes as much of the axis as the one before`() {
        let axis = Axis.nines([50, 99.9, 100])
        let places = [0, 90, 99, 99.9].map(axis.position)
        for (place, expected) in zip(places, [0, 1.0 / 3, 2.0 / 3, 1]) {
            #expect(abs(place - expected) < 1e-9)
        }
        // The largest value has no number of nines; it stands at the end.
        #expect(axis.position(100) == 1)
        #expect(axis.ticks.map(\.name) == ["0 %", "50 %", "90 %", "99 %", "99.9 %"])
    }

    @Test(arguments: [[], [0], [0, 0]] as [[Double]])
    func `An axis of nothing still has two ends`(_ values: [Double]) {
        for axis in [Axis.linear(values), .logarithmic(values)] {
            #expect(axis.position(axis.ticks[0].value) == 0)
            #expect(axis.position(0).isFinite && axis.position(0) <= 1)
        }
    }
}
