import Workloads

/// What GeoBucket is meant to reach, and what it reached in this run.
struct Targets {
    let results: Results
    /// The number of connections that the targets speak of.
    let most: Int

    var text: String {
        var table = Table(["", "target", "measured", ""])
        for line in lines {
            let measured = line.measured.map { figure($0, line.unit) } ?? "–"
            let isMet = line.measured.map { line.isAtLeast ? $0 >= line.bound : $0 <= line.bound }
            table.add([
                line.what, (line.isAtLeast ? "≥ " : "≤ ") + figure(line.bound, line.unit), measured,
                isMet.map { $0 ? "met" : "missed" } ?? "not measured",
            ])
        }
        return table.text
    }

    private struct Line {
        var what: String
        var bound: Double
        var unit: String
        var measured: Double?
        var isAtLeast = true
    }

    private var lines: [Line] {
        let general = ["redis", "postgis"]
        let cpu: [(Workload, [String], Double, String)] = [
            (.q1, general, 5, "best peer"), (.q2, general, 15, "best peer"),
            (.q3, general, 5, "best peer"), (.q4, general, 40, "best general filter"),
            (.q4, ["redis-made", "postgis-made"], 5, "best index made for it"),
            (.q5, general, 20, "best peer"),
        ]
        let reads: [Workload] = [.q1, .q2, .q3, .q4, .q5]
        let processorTime = cpu.map { workload, peers, bound, name in
            Line(
                what: "\(workload.rawValue): processor time, \(name) by GeoBucket", bound: bound,
                unit: "×",
                measured: quotient(
                    best(workload, peers, \.serverCPU, min), own(workload, \.serverCPU)))
        }
        let throughput = reads.map { workload in
            Line(
                what: "\(workload.rawValue): throughput, GeoBucket by best peer", bound: 3,
                unit: "×",
                measured: quotient(
                    own(workload, \.answersPerSecond),
                    best(workload, general, \.answersPerSecond, max)))
        }
        let echo = [Workload.q1, .q3].map { workload in
            Line(
                what: "\(workload.rawValue): processor time, GeoBucket by echo", bound: 3,
                unit: "×",
                measured: quotient(
                    own(workload, \.serverCPU), best(workload, ["echo"], \.serverCPU, min)),
                isAtLeast: false)
        }
        let tail = reads.map { workload in
            Line(
                what: "\(workload.rawValue): p99 at half load", bound: 1_000, unit: " µs",
                measured: value(workload, "geobucket", .half, most, \.p99), isAtLeast: false)
        }
        let engine = [(Workload.q1, 8.0), (.q4, 25), (.q5, 5)].map { workload, bound in
            Line(
                what: "\(workload.rawValue): engine in process", bound: bound, unit: " µs",
                measured: value(workload, "engine", .inProcess, 0, \.serverCPU), isAtLeast: false)
        }
        let pipelined = [(Workload.q1, 150_000.0), (.q5, 170_000)].map { workload, bound in
            Line(
                what: "\(workload.rawValue): pipelined, queries a second", bound: bound, unit: "",
                measured: value(workload, "geobucket", .pipelined, most, \.answersPerSecond))
        }
        return processorTime + throughput + echo + tail + engine + pipelined
    }

    private func value(
        _ workload: Workload, _ peer: String, _ mode: Mode, _ connections: Int,
        _ measure: (Sample) -> Double
    ) -> Double? {
        results.median(
            Sample.Case(workload: workload, peer: peer, mode: mode, connections: connections),
            measure)
    }

    private func own(_ workload: Workload, _ measure: (Sample) -> Double) -> Double? {
        value(workload, "geobucket", .closed, most, measure)
    }

    private func best(
        _ workload: Workload, _ peers: [String], _ measure: (Sample) -> Double,
        _ better: (Double, Double) -> Double
    ) -> Double? {
        let values = peers.compactMap { value(workload, $0, .closed, most, measure) }
        return values.isEmpty ? nil : values.dropFirst().reduce(values[0], better)
    }

    private func quotient(_ a: Double?, _ b: Double?) -> Double? {
        guard let a, let b, b > 0 else { return nil }
        return a / b
    }
}
