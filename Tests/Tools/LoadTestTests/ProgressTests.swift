import Testing

@testable import LoadTest

/// The line that a running load test shows on a terminal.
@Suite struct ProgressTests {
    private static func line(
        rate: Double = 5_000, isWarmUp: Bool = false, seconds: Double = 12.9, answered: Int = 4_998,
        failed: Int = 0, p50: Double? = 213.4, p99: Double? = 840, backlog: Int = 0
    ) -> String {
        let last = LoadReport.Interval(
            due: answered + failed, answered: answered, failed: failed, p50: p50, p99: p99,
            p999: p99, max: p99)
        return LoadProgress(
            rate: rate, isWarmUp: isWarmUp, seconds: seconds, last: last, backlog: backlog
        ).line
    }

    @Test func `It has the rate, the time, and what was answered how fast`() {
        #expect(Self.line() == "5,000/s, 12 s: 4,998 answered, p50 0.213, p99 0.84 ms")
        #expect(Self.line(rate: 0.5, seconds: 0.2).hasPrefix("0.5/s, 0 s: "))
    }

    @Test func `It says when figures do not count`() {
        #expect(Self.line(isWarmUp: true).hasPrefix("5,000/s (warm-up), 12 s: "))
    }

    @Test func `Failures and requests that wait are told where there are any`() {
        #expect(Self.line(failed: 1).contains("4,998 answered, 1 failed, p50"))
        #expect(Self.line(backlog: 12_345).hasSuffix("ms, 12,345 wait for a connection"))
    }

    @Test func `Of an interval in which nothing was due there is no latency`() {
        let line = Self.line(answered: 0, p50: nil, p99: nil, backlog: 0)
        #expect(line == "5,000/s, 12 s: 0 answered")
    }
}
