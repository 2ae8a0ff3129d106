import Workloads

/// The report of a run as Markdown.
struct Report {
    let machine: Machine
    let main: Results
    /// Of real places.
    let others: [Results]
    let settings: Settings

    var text: String {
        var parts = ["# Benchmark report\n", head]
        parts.append("![Processor time by query](report.svg)\n")
        parts.append("## Targets\n\n" + Targets(results: main, most: settings.mostConnections).text)
        parts.append("## Queries\n\n" + Self.key)
        parts += workloads(of: main)
        parts.append(pipelined)
        if main.workloads.contains(.q8) { parts.append(moving) }
        parts.append("## Loading\n\n" + loading(main))
        parts.append("## Answers\n\n" + Self.answersKey + answers(main))
        for results in others {
            let count = figure(Double(results.objects))
            parts.append("## Real places: \(count) \(results.dataset)\n\n" + loading(results))
            parts += workloads(of: results)
            parts.append(answers(results))
        }
        return parts.joined(separator: "\n")
    }

    private var head: String {
        machine.lines + "\n- " + main.versions.joined(separator: "; ") + "\n"
            + "- \(figure(Double(main.objects))) objects, seed \(settings.seed); \(settings.rounds) rounds, peers "
            + "interleaved, windows of \(settings.seconds) s after \(settings.seconds * 0.15) s "
            + "of warm-up; medians over the rounds\n"
    }

    private static let key = """
        Times in microseconds. *CPU* is the processor time of all of the peer's processes by query, \
        *spread*, behind queries and behind processor time, the largest less the smallest value over the rounds, by \
        their median. \
        *× CPU*: how many times GeoBucket's processor time the peer takes; *× rate*: how many \
        times the peer's throughput GeoBucket has; *× p50*, *× p99*: how many times GeoBucket's \
        latency the peer has. *p99 at half load*: with requests on time at half of the peer's own \
        throughput. *own* is the load generator's processor time by query.

        """

    private static let answersKey = """
        Compared with an oracle that scans; peers in this process by their counts alone. Peers with a sphere of another \
        radius are asked with the radius scaled to it, and their distances scaled back; redis \
        keeps places to about 0.6 m, and its box is one of metres, not of degrees.


        """

    private func workloads(of results: Results) -> [String] {
        results.workloads.filter { $0 != .q8 }.map { workload in
            "### \(workload.rawValue): \(workload.title)\n\n"
                + results.connectionCounts.map { served(workload, $0, results) }
                .joined(separator: "\n") + "\n" + inProcess(workload, results)
        }
    }

    private func served(_ workload: Workload, _ connections: Int, _ results: Results) -> String {
        let name = connections == 1 ? "1 connection" : "\(connections) connections"
        var table = Table([
            name, "queries/s", "spread", "p50", "p99", "p99 at half load", "CPU", "spread", "bytes",
            "own", "× CPU", "× rate", "× p50", "× p99",
        ])
        func kind(_ peer: String, _ mode: Mode = .closed) -> Sample.Case {
            Sample.Case(workload: workload, peer: peer, mode: mode, connections: connections)
        }
        let own = kind("geobucket")
        for title in results.titles {
            let peer = kind(title[0])
            guard let rate = results.median(peer, \.answersPerSecond) else { continue }
            let cpu = results.median(peer, \.serverCPU)
            let p50 = results.median(peer, \.p50)
            let p99 = results.median(peer, \.p99)
            table.add([
                title[1], figure(rate),
                figure(results.spread(peer, \.answersPerSecond).map { $0 * 100 }, " %"),
                figure(p50), figure(p99),
                figure(results.median(kind(title[0], .half), \.p99)), figure(cpu),
                figure(results.spread(peer, \.serverCPU).map { $0 * 100 }, " %"),
                figure(results.median(peer, \.answerBytes)),
                figure(results.median(peer, \.generatorCPU)),
                ratio(cpu, to: results.median(own, \.serverCPU)),
                ratio(results.median(own, \.answersPerSecond), to: rate),
                ratio(p50, to: results.median(own, \.p50)),
                ratio(p99, to: results.median(own, \.p99)),
            ])
        }
        return table.text
    }

    private func inProcess(_ workload: Workload, _ results: Results) -> String {
        var table = Table(["in process", "CPU", "p50", "p99", "spread", "× engine's CPU"])
        func kind(_ peer: String) -> Sample.Case {
            Sample.Case(workload: workload, peer: peer, mode: .inProcess, connections: 0)
        }
        var isEmpty = true
        for title in results.titles {
            let peer = kind(title[0])
            guard let cpu = results.median(peer, \.serverCPU) else { continue }
            isEmpty = false
            table.add([
                title[1], figure(cpu), figure(results.median(peer, \.p50)),
                figure(results.median(peer, \.p99)),
                figure(results.spread(peer, \.serverCPU).map { $0 * 100 }, " %"),
                ratio(cpu, to: results.median(kind("engine"), \.serverCPU)),
            ])
        }
        return isEmpty ? "" : table.text
    }

    private var pipelined: String {
        var table = Table([
            "\(settings.mostConnections) connections", "", "queries/s", "p50", "p99", "CPU",
            "spread", "own", "× CPU", "× rate",
        ])
        for workload in main.workloads {
            func kind(_ peer: String) -> Sample.Case {
                Sample.Case(
                    workload: workload, peer: peer, mode: .pipelined,
                    connections: settings.mostConnections)
            }
            for title in main.titles {
                let peer = kind(title[0])
                guard let rate = main.median(peer, \.answersPerSecond) else { continue }
                let cpu = main.median(peer, \.serverCPU)
                table.add([
                    workload.rawValue, title[1], figure(rate), figure(main.median(peer, \.p50)),
                    figure(main.median(peer, \.p99)), figure(cpu),
                    figure(main.spread(peer, \.serverCPU).map { $0 * 100 }, " %"),
                    figure(main.median(peer, \.generatorCPU)),
                    ratio(cpu, to: main.median(kind("geobucket"), \.serverCPU)),
                    ratio(main.median(kind("geobucket"), \.answersPerSecond), to: rate),
                ])
            }
        }
        guard !table.isEmpty else { return "" }
        return
            "### Pipelined\n\nEach connection sends \(Mode.pipelined.depth) requests at once and the next when "
            + "it has all answers; latencies are those of the last answer.\n\n" + table.text
    }

    private var moving: String {
        var table = Table([
            "", "queries/s", "p50", "p99", "moves/s", "move p50", "move p99", "CPU by operation",
            "× queries", "× moves",
        ])
        func kind(_ peer: String, _ mode: Mode) -> Sample.Case {
            Sample.Case(
                workload: .q8, peer: peer, mode: mode, connections: settings.mostConnections)
        }
        func rate(_ peer: String, _ mode: Mode) -> Double? {
            main.median(kind(peer, mode), \.answersPerSecond)
        }
        for title in main.titles {
            let reading = kind(title[0], .closed)
            let moving = kind(title[0], .moving)
            guard let queries = rate(title[0], .closed) else { continue }
            table.add([
                title[1], figure(queries), figure(main.median(reading, \.p50)),
                figure(main.median(reading, \.p99)), figure(rate(title[0], .moving)),
                figure(main.median(moving, \.p50)), figure(main.median(moving, \.p99)),
                figure(main.median(reading, \.serverCPU)),
                ratio(rate("geobucket", .closed), to: queries),
                ratio(rate("geobucket", .moving), to: rate(title[0], .moving)),
            ])
        }
        return "### Q8: \(Workload.q8.title)\n\n"
            + "Every move is on disk before it is answered: redis with `appendfsync always`, "
            + "PostgreSQL with `synchronous_commit` on.\n\n" + table.text
    }

    private func loading(_ results: Results) -> String {
        var table = Table([
            "", "load s", "start s", "bytes/object", "× load", "× start", "× bytes", "what",
        ])
        func some(_ value: Double?) -> Double? { value.flatMap { $0 > 0 ? $0 : nil } }
        let own = results.facts["geobucket"]
        for title in results.titles {
            guard let facts = results.facts[title[0]] else { continue }
            let measures: [(LoadFacts) -> Double] = [
                \.loadSeconds, \.startSeconds, \.memoryBytesPerObject,
            ]
            table.add(
                [title[1]] + measures.map { figure(some($0(facts))) }
                    + measures.map { ratio(some($0(facts)), to: some(own.map($0))) } + [facts.note])
        }
        return table.text
            + "\nAfter all rounds GeoBucket has \(results.residentBytes) bytes resident "
            + "by object, \(results.cachedBytes) of them cached documents (`server.stats`).\n"
    }

    private func answers(_ results: Results) -> String {
        var table = Table(["", "peer", "objects", "in common", "largest difference of a distance"])
        for agreement in results.agreements {
            table.add([
                agreement.workload.rawValue, agreement.peer, figure(agreement.hits),
                agreement.refusal == nil ? figure(agreement.common * 100, " %") : "–",
                agreement.worstMeters > 0 ? small(agreement.worstMeters, " m") : "–",
            ])
        }
        let failures = results.failures.sorted { $0.key < $1.key }
            .map { "- Not measured to the end: \($0.key): \($0.value)\n" }
        return table.text + (failures.isEmpty ? "" : "\n" + failures.joined())
    }
}
