/// How processor time by query grows: over objects, and over hits; both axes logarithmic.
struct GrowthChart {
    let growth: Growth
    let machine: Machine

    var svg: String {
        var svg = SVG(width: 1_080, height: 500)
        svg.text("How the cost of a radius query grows", x: 20, y: 26, size: 17, isBold: true)
        svg.text(
            "Processor time by query of all of a peer's processes; the index: of the calling thread. "
                + "\(machine.date), \(machine.commit), \(machine.processor)", x: 20, y: 46, size: 11
        )
        let byObjects = growth.points.filter { $0.hits == Growth.standardHits }
        let byHits = growth.points.filter { $0.objects == growth.hitsObjects }
        panel(&svg, left: 70, byObjects, "objects (\(Growth.standardHits) hits)") {
            Double($0.objects)
        }
        panel(&svg, left: 600, byHits, "hits (\(figure(Double(growth.hitsObjects))) objects)") {
            Double($0.hits)
        }
        legend(&svg)
        return svg.source
    }

    private func panel(
        _ svg: inout SVG, left: Double, _ points: [Growth.Point], _ label: String,
        _ x: (Growth.Point) -> Double
    ) {
        let across = LogAxis(points.map(x), from: left, to: left + 440)
        let up = LogAxis(growth.points.map(\.cpu), from: 400, to: 80)
        for tick in across.ticks {
            svg.line((across.position(tick.value), 80), (across.position(tick.value), 400))
            svg.text(tick.name, x: across.position(tick.value), y: 418, anchor: .middle)
        }
        for tick in up.ticks {
            svg.line((left, up.position(tick.value)), (left + 440, up.position(tick.value)))
            svg.text(tick.name, x: left - 8, y: up.position(tick.value) + 4, anchor: .end)
        }
        svg.text("microseconds", x: left - 50, y: 70)
        svg.text(label, x: left + 220, y: 438, anchor: .middle)
        for title in growth.titles {
            let line = points.filter { $0.peer == title[0] }.sorted { x($0) < x($1) }
                .map { (x: across.position(x($0)), y: up.position($0.cpu)) }
            svg.path(line, color: Palette.color(of: title[0]))
            for point in line { svg.dot(point, color: Palette.color(of: title[0])) }
        }
    }

    private func legend(_ svg: inout SVG) {
        var x = 70.0
        for title in growth.titles {
            svg.dot((x, 470), color: Palette.color(of: title[0]))
            svg.text(title[1], x: x + 10, y: 474)
            x += 200
        }
    }
}
