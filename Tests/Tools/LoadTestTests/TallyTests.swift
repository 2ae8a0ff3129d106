import Glibc
import TestSupport
import Testing

@testable import LoadTest

@Suite struct TallyTests {
    /// Latencies from microseconds to seconds, as they come: most of them short.
    private static func latencies(seed: UInt64, count: Int) -> [UInt64] {
        var random = SplitMix64(seed: seed)
        return (0..<count).map { _ in
            UInt64(exp(random.number(0...1) * 6 + random.gaussian()) * 1e4)
        }
    }

    @Test(arguments: 1...8 as ClosedRange<UInt64>)
    func `Percentiles are those of the sorted latencies to one in a thousand`(_ seed: UInt64) {
        let latencies = Self.latencies(seed: seed, count: 20_000)
        var tally = Tally()
        for latency in latencies { tally.record(latency, error: nil) }
        let sorted = latencies.sorted()
        let distribution = Distribution(tally.latencies)
        for percentile in Distribution.ladder {
            // The nearest rank, in whole numbers: thousandths of a percent.
            let thousandths = Int((percentile * 1_000).rounded())
            let rank = max(1, (thousandths * sorted.count + 99_999) / 100_000)
            let exact = Double(sorted[rank - 1]) / 1_000
            #expect(
                abs(distribution[percentile] - exact) <= exact * 0.001,
                "seed \(seed), p\(percentile)")
        }
        let mean = Double(latencies.reduce(0, +)) / Double(latencies.count) / 1_000
        #expect(abs(distribution.mean - mean) <= mean * 0.001)
    }

    @Test func `Tallies added are the tally of all`() {
        let (a, b) = (Self.latencies(seed: 1, count: 500), Self.latencies(seed: 2, count: 700))
        var (first, second, all) = (Tally(), Tally(), Tally())
        for (number, latency) in a.enumerated() {
            let error = number % 10 == 0 ? "A" : nil
            first.record(latency, error: error)
            all.record(latency, error: error)
        }
        for latency in b {
            second.record(latency, error: "B")
            all.record(latency, error: "B")
        }
        first.add(second)
        #expect(first.count == 1_200 && first.failures == 750)
        #expect(first.errors == ["A": 50, "B": 700] && first.errors == all.errors)
        #expect(Distribution(first.latencies) == Distribution(all.latencies))
    }

    @Test func `An objective is held by just enough requests that kept it`() throws {
        let objective = try Objective("p90=1ms")
        for slow in [99, 100, 101] {
            var tally = Tally()
            for number in 0..<1_000 {
                tally.record(number < slow ? 1_100_000 : 900_000, error: nil)
            }
            #expect(tally.slowerOrFailed(than: objective.nanoseconds) == slow)
            #expect(objective.isHeld(by: tally) == (slow <= 100))
        }
    }

    @Test func `A request that failed keeps no objective, fast or slow`() throws {
        let objective = try Objective("p90=1ms")
        var tally = Tally()
        for number in 0..<1_000 {
            let isSlow = number % 2 == 0
            tally.record(isSlow ? 5_000_000 : 1_000, error: number < 101 ? "BUSY" : nil)
        }
        // 500 are slow; of the fast ones 50 failed.
        #expect(tally.slowerOrFailed(than: objective.nanoseconds) == 550)
        #expect(!objective.isHeld(by: tally))
    }

    @Test func `The timeline has latencies where requests were due, answers where they came`() {
        var timeline = Timeline(begin: 1_000, seconds: 1e-6)
        timeline.record(due: 1_100, end: 1_200, failed: false)
        timeline.record(due: 1_500, end: 4_500, failed: true)
        #expect(timeline.intervals.map(\.due) == [2, 0, 0, 0])
        #expect(timeline.intervals.map(\.answered) == [1, 0, 0, 0])
        #expect(timeline.intervals.map(\.failed) == [0, 0, 0, 1])
        #expect(LoadReport.Interval(timeline.intervals[0]).max == 3)
        #expect(LoadReport.Interval(timeline.intervals[1]).max == nil)
    }
}
