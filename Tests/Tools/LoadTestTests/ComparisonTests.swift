import Testing

@testable import LoadTest

/// Two reports side by side.
@Suite struct ComparisonTests {
    private static func distribution(_ microseconds: Double) -> Distribution {
        Distribution(
            mean: microseconds,
            percentiles: Distribution.ladder.map { _ in microseconds })
    }

    /// A report whose requests all take one time.
    private static func report(
        rates: [Double], microseconds: Double = 1_000, kinds: [String] = ["radius"],
        held: Double? = nil
    ) throws -> LoadReport {
        let settings = LoadSettings(
            plan: .rate(1), requests: RequestSettings(bucket: "b1", mix: try Mix("radius")))
        var report = LoadReport(
            date: "2026-01-01T00:00:00Z",
            setup: .init(server: "h:1", version: "0.1.0", objects: 1, settings))
        report.highestRateHeld = held
        report.stages = rates.enumerated().map { number, rate in
            let outcome = LoadReport.Outcome(
                requests: Int(rate) * 10, errors: [:], latency: distribution(microseconds))
            return LoadReport.Stage(
                rate: rate, isWarmUp: number == 0, begin: Double(number) * 10, seconds: 10,
                all: outcome,
                kinds: Dictionary(uniqueKeysWithValues: kinds.map { ($0, outcome) }), isHeld: nil,
                generator: .init(cpuSeconds: 1, lag: distribution(1), waits: 0))
        }
        return report
    }

    private static func rows(_ a: LoadReport, _ b: LoadReport) -> [[Substring]] {
        Comparison(a, b).text.split(separator: "\n").map { $0.split(separator: "  ") }
            .map { $0.map { $0.drop { $0 == " " } } }
    }

    private static func rates(_ a: LoadReport, _ b: LoadReport) -> [[Substring]] {
        rows(a, b).filter { $0.first?.hasPrefix("A at ") == true }.map { Array($0.prefix(2)) }
    }

    @Test func `The rates that both measured are compared, the warm-up is not`() throws {
        let a = try Self.report(rates: [100, 200, 300, 400])
        let b = try Self.report(rates: [300, 400, 200, 700])
        #expect(
            Self.rates(a, b) == [["A at 200/s", "B at 200/s"], ["A at 400/s", "B at 400/s"]])
    }

    @Test func `Without a common rate the most important of each is compared`() throws {
        let a = try Self.report(rates: [1, 100, 200, 300], held: 200)
        let b = try Self.report(rates: [1, 500, 600])
        // The highest that was held, and where none was, the last.
        #expect(Self.rates(a, b) == [["A at 200/s", "B at 600/s"]])
        #expect(Self.rates(b, a) == [["A at 600/s", "B at 200/s"]])
    }

    @Test func `A report without figures has nothing to compare`() throws {
        let a = try Self.report(rates: [1, 100])
        let b = try Self.report(rates: [1])
        #expect(Self.rates(a, b).isEmpty && Self.rates(b, b).isEmpty)
        #expect(Comparison(a, b).text.contains("B: 2026-01-01T00:00:00Z"))
    }

    @Test func `Each figure stands beside the other, with the change from A to B`() throws {
        let a = try Self.report(rates: [1, 100], microseconds: 1_000, held: 100)
        let b = try Self.report(rates: [1, 100], microseconds: 2_500, held: nil)
        let rows = Self.rows(a, b)
        for row in [
            ["highest rate held", "100", "0", "−100 %"], ["answered/s", "100", "100", "0 %"],
            ["failed", "0", "0", "0 %"], ["all, p50 ms", "1", "2.5", "+150 %"],
            ["radius, max ms", "1", "2.5", "+150 %"],
            ["generator, % of a processor", "10", "10", "0 %"],
        ] {
            #expect(rows.contains { $0 == row.map { $0[...] } }, "\(row): \(rows)")
        }
        #expect(!Comparison(b, b).text.contains("highest rate held"))
    }

    @Test func `Kinds that only one has are left out`() throws {
        let a = try Self.report(rates: [1, 100], kinds: ["radius", "get"])
        let b = try Self.report(rates: [1, 100], kinds: ["get", "move"])
        let names = Set(Self.rows(a, b).compactMap { $0.first?.split(separator: ",").first })
        #expect(names.contains("get") && !names.contains("radius") && !names.contains("move"))
    }
}
