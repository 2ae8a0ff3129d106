extension LoadReport {
    /// The report for a terminal.
    public var text: String {
        var parts = [facts.joined(separator: "\n") + "\n", stageTable.text]
        if let focus { parts.append(Self.kindTable(focus).text) }
        if let watchTable { parts.append(watchTable.text) }
        parts.append(remarks.map { $0 + "\n" }.joined())
        return parts.joined(separator: "\n")
    }

    /// What was measured, as sentences.
    var facts: [String] {
        let watches = setup.watches.map { count in
            let radius = Figures.number(setup.watchRadiusMeters ?? 0)
            return "\(Figures.count(count)) watches with a radius of \(radius) m"
        }
        return [
            "GeoBucket \(setup.version) at \(setup.server), bucket \(setup.bucket) with "
                + "\(Figures.count(setup.objects)) objects",
            "\(setup.mix) on \(Figures.count(setup.connections)) connections, "
                + "\(Figures.number(setup.stageSeconds)) s at each rate after "
                + "\(Figures.number(setup.warmUpSeconds)) s of warm-up",
        ] + (watches.map { [$0] } ?? [])
    }

    /// The stage whose kinds and distribution are shown: the one with the highest rate that met the
    /// objective, else the last.
    var focus: Stage? { measured.last { $0.rate == highestRateHeld } ?? measured.last }

    var stageTable: TextTable {
        let hasObjective = setup.objective != nil
        var table = TextTable(
            ["rate/s", "answered/s", "failed"] + Self.latencyNames
                + (hasObjective ? [setup.objective!] : []))
        for stage in measured {
            let verdict = stage.isHeld.map { $0 ? "held" : "not held" }
            table.add(
                [
                    Figures.number(stage.rate), Figures.number(stage.answersPerSecond),
                    Figures.count(stage.all.failures),
                ] + stage.all.latency.shown + (verdict.map { [$0] } ?? []))
        }
        return table
    }

    static func kindTable(_ stage: Stage) -> TextTable {
        var table = TextTable(
            ["at \(Figures.number(stage.rate))/s", "requests", "failed"] + latencyNames)
        for (kind, outcome) in stage.outcomes {
            table.add(
                [kind, Figures.count(outcome.requests), Figures.count(outcome.failures)]
                    + outcome.latency.shown)
        }
        return table
    }

    /// What watches were told at each rate; nil if there were none.
    var watchTable: TextTable? {
        let told = measured.filter { $0.watching != nil }
        guard !told.isEmpty else { return nil }
        var table = TextTable(
            ["events at rate/s", "events/s", "measured", "resyncs"]
                + Self.latencyNames.map { $0.replacing(" ms", with: " delay ms") })
        for stage in told {
            let watching = stage.watching!
            table.add(
                [
                    Figures.number(stage.rate), Figures.number(stage.eventsPerSecond),
                    Figures.count(watching.measured), Figures.count(watching.resyncs),
                ] + watching.delay.shown)
        }
        return table
    }

    static let latencyNames = ["p50 ms", "p90 ms", "p99 ms", "p99.9 ms", "max ms"]

    // MARK: Remarks

    /// Sentences below the tables: the objective, errors, connections, the generator itself.
    var remarks: [String] {
        var remarks: [String] = []
        if isCutShort { remarks.append("The test was ended before its plan was.") }
        if let objective = setup.objective { remarks.append(verdict(objective)) }
        for (code, count) in errors {
            remarks.append("\(Figures.count(count)) requests failed with \(code).")
        }
        if reconnects > 0 {
            remarks.append("\(Figures.count(reconnects)) connections were lost and opened again.")
        }
        let ends = measured.reduce(0) { $0 + ($1.watching?.ends ?? 0) }
        if ends > 0 { remarks.append("The service ended \(Figures.count(ends)) watches.") }
        guard let focus else { return remarks }
        if let cost = serviceCost(in: focus) {
            remarks.append(
                "The service kept \(Figures.number(cost.processors)) processors busy, "
                    + "\(Figures.number(cost.microsecondsPerRequest)) µs a request.")
        }
        return remarks + Self.generatorRemarks(focus)
    }

    private func verdict(_ objective: String) -> String {
        guard let highestRateHeld else { return "No rate held \(objective)." }
        let rate = Figures.number(highestRateHeld)
        return measured.allSatisfy { $0.isHeld == true }
            ? "\(objective) was held at every rate, up to \(rate)/s."
            : "The highest rate that held \(objective) was \(rate)/s."
    }

    /// Failures of all measured stages, the most frequent first.
    var errors: [(code: String, count: Int)] {
        measured.reduce(into: [String: Int]()) { $0.merge($1.all.errors, uniquingKeysWith: +) }
            .sorted { ($1.value, $0.key) < ($0.value, $1.key) }
            .map { (code: $0.key, count: $0.value) }
    }

    private static func generatorRemarks(_ stage: Stage) -> [String] {
        let (lag, waits) = (stage.generator.lag, stage.generator.waits)
        let perRequest = stage.generator.cpuSeconds / Double(max(1, stage.all.requests)) * 1e6
        var remarks = [
            "The load generator took \(Figures.number(stage.generator.cpuSeconds)) s of processor "
                + "time (\(Figures.percent(stage.generatorLoad)) of a processor, "
                + "\(Figures.number(perRequest)) µs a request). It sent late by "
                + "\(Figures.milliseconds(lag[50])) ms (p50), \(Figures.milliseconds(lag[99])) ms "
                + "(p99), \(Figures.milliseconds(lag.max)) ms (max).",
            "\(Figures.percent(Double(waits) / Double(max(1, stage.all.requests)))) of the requests "
                + "had to wait for a free connection.",
        ]
        if stage.generatorLoad > 0.8 || lag[99] > 0.2 * stage.all.latency[99] {
            remarks.append(
                "Careful: the load generator was itself a bottleneck; the latencies are partly its own."
            )
        }
        return remarks
    }
}

extension LoadReport.Stage {
    /// Kinds in the order of `RequestKind`.
    var outcomes: [(kind: String, outcome: LoadReport.Outcome)] {
        RequestKind.allCases.compactMap { kind in
            kinds[kind.rawValue].map { (kind.rawValue, $0) }
        }
    }
}

extension Distribution {
    /// The percentages that tables show.
    static let shownPercentiles: [Double] = [50, 90, 99, 99.9, 100]

    /// Their values in milliseconds.
    fileprivate var shown: [String] {
        Self.shownPercentiles.map { Figures.milliseconds(self[$0]) }
    }
}
