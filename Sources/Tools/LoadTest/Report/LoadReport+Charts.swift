extension LoadReport {
    /// The charts of the report in their order.
    var charts: [LineChart] {
        [latencyOverTime, rateOverTime] + (measured.count > 1 ? [latencyByRate] : [])
            + (focus.map { [Self.distribution($0)] } ?? [])
    }

    // MARK: Over time

    private var seconds: Axis {
        .linear([Double(timeline.count) * intervalSeconds], isRound: false)
    }

    private func line(_ name: String, _ value: (Interval) -> Double?) -> LineChart.Line {
        LineChart.Line(
            name: name,
            points: timeline.enumerated().map { position, interval in
                value(interval).map { (x: (Double(position) + 0.5) * intervalSeconds, y: $0) }
            })
    }

    private var bands: [LineChart.Band] {
        let isCrowded = stages.count > 12
        return stages.enumerated().map { number, stage in
            LineChart.Band(
                from: stage.begin, to: stage.begin + stage.seconds,
                name: stage.isWarmUp
                    ? "warm-up" : isCrowded ? "" : Figures.number(stage.rate) + "/s",
                isFaint: number.isMultiple(of: 2))
        }
    }

    private var latencyOverTime: LineChart {
        let lines = [
            line("p50") { $0.p50.map { $0 / 1_000 } }, line("p99") { $0.p99.map { $0 / 1_000 } },
            line("p99.9") { $0.p999.map { $0 / 1_000 } },
            line("max") { $0.max.map { $0 / 1_000 } },
        ]
        return LineChart(
            title: "Latency over time, by when requests were due", across: seconds,
            acrossName: "seconds",
            up: .logarithmic(lines.flatMap { $0.points.compactMap { $0?.y } }), upName: "ms",
            lines: lines, bands: bands)
    }

    private var rateOverTime: LineChart {
        let lines = [
            line("due") { Double($0.due) / intervalSeconds },
            line("failed") { Double($0.failed) / intervalSeconds },
            line("answered") { Double($0.answered) / intervalSeconds },
        ]
        return LineChart(
            title: "Requests a second", across: seconds, acrossName: "seconds",
            up: .linear(lines.flatMap { $0.points.compactMap { $0?.y } }), upName: "1/s",
            lines: lines, bands: bands)
    }

    // MARK: By rate and by share

    private var latencyByRate: LineChart {
        let stages = measured.sorted { $0.rate < $1.rate }
        let lines = [50, 99, 99.9].map { percentile in
            LineChart.Line(
                name: "p\(Figures.number(percentile))",
                points: stages.map { ($0.rate, $0.all.latency[percentile] / 1_000) })
        }
        return LineChart(
            title: "Latency by rate", across: .linear(stages.map(\.rate)),
            acrossName: "requests a second",
            up: .logarithmic(lines.flatMap { $0.points.compactMap { $0?.y } }), upName: "ms",
            lines: lines)
    }

    private static func distribution(_ stage: Stage) -> LineChart {
        let outcomes = [("all", stage.all)] + stage.outcomes
        let lines = outcomes.map { name, outcome in
            // A percentile without a request above it tells nothing.
            let known = zip(Distribution.ladder, outcome.latency.percentiles).filter {
                (1 - $0.0 / 100) * Double(outcome.requests) >= 1
            }
            return LineChart.Line(name: name, points: known.map { ($0.0, $0.1 / 1_000) })
        }
        let points = lines.flatMap { $0.points.compactMap { $0 } }
        return LineChart(
            title: "Distribution of latencies at \(Figures.number(stage.rate))/s",
            across: .nines(points.map(\.x)), acrossName: "share of the requests that were faster",
            up: .logarithmic(points.map(\.y)), upName: "ms", lines: lines)
    }

    // MARK: The service

    /// Small charts of `server.stats` over the run.
    var serverCharts: [LineChart] {
        [
            serverChart("Processors busy", "", isRate: true) { $0.numbers["cpuSeconds"] },
            serverChart("Requests that the service counted", "1/s", isRate: true, \.requests),
            serverChart("Changes stored", "1/s", isRate: true) { $0.numbers["change"] },
            serverChart("Memory of the service", "MiB") {
                $0.numbers["memory.residentBytes"].map { $0 / 1_048_576 }
            },
        ].compactMap { $0 }
    }

    private func serverChart(
        _ title: String, _ unit: String, isRate: Bool = false,
        _ value: (Sample) -> Double?
    ) -> LineChart? {
        var points = samples.compactMap { sample in
            value(sample).map { (x: sample.seconds, y: $0) }
        }
        if isRate {
            points = zip(points, points.dropFirst()).filter { $1.x - $0.x > 0.2 }
                .map { ($1.x, max(0, $1.y - $0.y) / ($1.x - $0.x)) }
        }
        guard points.count > 1 else { return nil }
        return LineChart(
            title: title, across: seconds, acrossName: "seconds", up: .linear(points.map(\.y)),
            upName: unit, lines: [LineChart.Line(name: title, points: points)], width: 470,
            height: 220)
    }
}
