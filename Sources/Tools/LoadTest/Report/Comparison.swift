/// Two reports side by side, at the rates that both measured; if they share none, at the most
/// important rate of each.
public struct Comparison {
    private let a, b: LoadReport

    /// Compares B with A; the text uses these names.
    public init(_ a: LoadReport, _ b: LoadReport) {
        self.a = a
        self.b = b
    }

    /// Tables for a terminal, after two lines about each report.
    public var text: String {
        var parts = ["A: \(a.date), \(a.facts[0])\n   \(a.facts[1])"]
        parts[0] += "\nB: \(b.date), \(b.facts[0])\n   \(b.facts[1])\n"
        if a.highestRateHeld != nil || b.highestRateHeld != nil {
            var table = TextTable(["", "A", "B", "B to A"])
            table.add(
                Self.row("highest rate held", a.highestRateHeld ?? 0, b.highestRateHeld ?? 0))
            parts.append(table.text)
        }
        parts += pairs.map { table($0, $1).text }
        return parts.joined(separator: "\n")
    }

    private var pairs: [(LoadReport.Stage, LoadReport.Stage)] {
        let common = a.measured.compactMap { stage in
            b.measured.first { $0.rate == stage.rate }.map { (stage, $0) }
        }
        guard common.isEmpty, let a = a.focus, let b = b.focus else { return common }
        return [(a, b)]
    }

    private func table(_ x: LoadReport.Stage, _ y: LoadReport.Stage) -> TextTable {
        var table = TextTable([
            "", "A at \(Figures.number(x.rate))/s", "B at \(Figures.number(y.rate))/s", "B to A",
        ])
        table.add(Self.row("answered/s", x.answersPerSecond, y.answersPerSecond))
        table.add(Self.row("failed", Double(x.all.failures), Double(y.all.failures)))
        Self.add(to: &table, "all", x.all, y.all)
        for (kind, outcome) in x.outcomes {
            if let other = y.kinds[kind] { Self.add(to: &table, kind, outcome, other) }
        }
        if let cost = a.serviceCost(in: x), let other = b.serviceCost(in: y) {
            table.add(
                Self.row(
                    "service, µs of processor a request", cost.microsecondsPerRequest,
                    other.microsecondsPerRequest))
        }
        table.add(
            Self.row("generator, % of a processor", x.generatorLoad * 100, y.generatorLoad * 100))
        return table
    }

    private static func add(
        to table: inout TextTable, _ name: String, _ a: LoadReport.Outcome, _ b: LoadReport.Outcome
    ) {
        for (percentile, title) in zip(
            Distribution.shownPercentiles, LoadReport.latencyNames)
        {
            table.add(
                row(
                    "\(name), \(title)", a.latency[percentile] / 1_000,
                    b.latency[percentile] / 1_000))
        }
    }

    private static func row(_ name: String, _ a: Double, _ b: Double) -> [String] {
        [name, Figures.number(a), Figures.number(b), Figures.change(from: a, to: b)]
    }
}
