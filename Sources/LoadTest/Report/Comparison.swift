/// Two reports side by side, at the rates that both have measured; where there is none, at the
/// rate of each that matters most.
public struct Comparison {
    private let a, b: LoadReport

    public init(_ a: LoadReport, _ b: LoadReport) {
        self.a = a
        self.b = b
    }

    public var text: String {
        var parts = ["A: \(a.date), \(a.facts[0])\n   \(a.facts[1])"]
        parts[0] += "\nB: \(b.date), \(b.facts[0])\n   \(b.facts[1])\n"
        if a.highestRateHeld != nil || b.highestRateHeld != nil {
            var table = TextTable(["", "A", "B", "B to A"])
            table.add(
                Self.row("highest rate held", a.highestRateHeld ?? 0, b.highestRateHeld ?? 0))
            parts.append(table.text)
        }
        parts += pairs.map { Self.table($0, $1).text }
        return parts.joined(separator: "\n")
    }

    private var pairs: [(LoadReport.Stage, LoadReport.Stage)] {
        let common = a.measured.compactMap { stage in
            b.measured.first { $0.rate == stage.rate }.map { (stage, $0) }
        }
        guard common.isEmpty, let a = a.focus, let b = b.focus else { return common }
        return [(a, b)]
    }

    private static func table(_ a: LoadReport.Stage, _ b: LoadReport.Stage) -> TextTable {
        var table = TextTable([
            "", "A at \(Figures.number(a.rate))/s", "B at \(Figures.number(b.rate))/s", "B to A",
        ])
        table.add(row("answered/s", a.answersPerSecond, b.answersPerSecond))
        table.add(row("failed", Double(a.all.failures), Double(b.all.failures)))
        add(to: &table, "all", a.all, b.all)
        for (kind, outcome) in a.outcomes {
            if let other = b.kinds[kind] { add(to: &table, kind, outcome, other) }
        }
        table.add(row("generator, % of a processor", a.generatorLoad * 100, b.generatorLoad * 100))
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
