import Workloads

/// Processor time by query: one group of bars a workload, one bar a peer, logarithmic.
struct BarChart {
    let results: Results
    let machine: Machine
    let connections: Int

    private static let bar = 15.0
    private static let gap = 26.0
    private static let left = 250.0
    private static let width = 980.0

    var svg: String {
        let groups = results.workloads.filter { $0 != .q8 }.map { ($0, bars(of: $0)) }
            .filter { !$0.1.isEmpty }
        let rows = groups.reduce(0) { $0 + $1.1.count }
        let bottom = 70 + Double(rows) * Self.bar + Double(groups.count) * Self.gap
        var svg = SVG(width: Self.width, height: bottom + 60)
        let axis = LogAxis(
            groups.flatMap { $0.1.map(\.value) }, from: Self.left, to: Self.width - 90)
        svg.text(
            "Processor time by query, \(figure(Double(results.objects))) objects, \(connections) connections",
            x: 20, y: 26, size: 17, isBold: true)
        svg.text(
            "All of a peer's processes, user and system; in process: the calling thread. "
                + "\(machine.date), \(machine.commit), \(machine.processor)", x: 20, y: 46, size: 11
        )
        for tick in axis.ticks {
            let x = axis.position(tick.value)
            svg.line((x, 58), (x, bottom))
            svg.text(tick.name, x: x, y: bottom + 18, anchor: .middle)
        }
        svg.text(
            "microseconds (logarithmic; shorter is better)", x: (axis.start + axis.end) / 2,
            y: bottom + 40, anchor: .middle)
        var y = 60.0
        for (workload, bars) in groups {
            svg.text(
                "\(workload.rawValue): \(workload.title)", x: 20, y: y + 15, size: 12, isBold: true)
            y += Self.gap - 4
            for bar in bars {
                svg.text(bar.title, x: Self.left - 8, y: y + 11, size: 11, anchor: .end)
                svg.rectangle(
                    x: axis.start, y: y + 1, width: max(1, axis.position(bar.value) - axis.start),
                    height: Self.bar - 3, color: Palette.color(of: bar.peer))
                svg.text(
                    figure(bar.value), x: axis.position(bar.value) + 5, y: y + 11, size: 11)
                y += Self.bar
            }
            y += 4
        }
        return svg.source
    }

    private func bars(of workload: Workload) -> [(peer: String, title: String, value: Double)] {
        results.titles.compactMap { title in
            let modes: [(Mode, Int)] = [(.closed, connections), (.inProcess, 0)]
            for (mode, connections) in modes {
                let kind = Sample.Case(
                    workload: workload, peer: title[0], mode: mode, connections: connections)
                if let value = results.median(kind, \.serverCPU) {
                    return (title[0], title[1], value)
                }
            }
            return nil
        }
    }
}
