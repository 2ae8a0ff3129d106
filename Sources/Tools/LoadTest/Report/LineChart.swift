/// Lines over a common axis, as SVG in a page that defines colours and fonts.
struct LineChart {
    struct Line {
        var name: String
        /// In the units of the axes; nil breaks the line.
        var points: [(x: Double, y: Double)?]
    }

    /// A range of the horizontal axis with a name above it.
    struct Band {
        var from: Double
        var to: Double
        var name: String
        var isFaint = false
    }

    var title: String
    var across: Axis
    var acrossName: String
    var up: Axis
    var upName: String
    var lines: [Line]
    var bands: [Band] = []
    var width = 960.0
    var height = 300.0

    /// Margins; the right one fits half of the widest tick label, `99.999 %`.
    private static let (left, right, top, bottom) = (64.0, 32.0, 34.0, 44.0)

    /// A figure with its caption and legend.
    var html: String {
        let legend = lines.enumerated().map { number, line in
            "<span><i class=\"c\(number)\"></i>\(Self.escaped(line.name))</span>"
        }.joined()
        return """
            <figure><figcaption><b>\(Self.escaped(title))</b>\(lines.count > 1 ? legend : "")</figcaption>
            <div class="across"><svg style="min-width:\(Self.n(width * 0.7))px" viewBox="0 0 \(Self.n(width)) \(Self.n(height))" role="img" aria-label="\(Self.escaped(title))">
            \((bandMarks + gridMarks + lineMarks).joined(separator: "\n"))
            </svg></div></figure>

            """
    }

    private func x(_ value: Double) -> Double {
        Self.left + across.position(value) * (width - Self.left - Self.right)
    }

    private func y(_ value: Double) -> Double {
        height - Self.bottom - up.position(value) * (height - Self.top - Self.bottom)
    }

    private var bandMarks: [String] {
        bands.flatMap { band in
            let (from, to) = (x(band.from), x(band.to))
            let area =
                "<rect class=\"\(band.isFaint ? "faint" : "band")\" x=\"\(Self.n(from))\" y=\"\(Self.n(Self.top))\""
                + " width=\"\(Self.n(max(0, to - from)))\" height=\"\(Self.n(height - Self.top - Self.bottom))\"/>"
            return [area, text(band.name, (from + to) / 2, Self.top - 8, "middle")]
        }
    }

    private var gridMarks: [String] {
        let (floor, end) = (height - Self.bottom, width - Self.right)
        let rows = up.ticks.flatMap { tick in
            [
                rule((Self.left, y(tick.value)), (end, y(tick.value))),
                text(tick.name, Self.left - 8, y(tick.value) + 4, "end"),
            ]
        }
        let columns = across.ticks.flatMap { tick in
            [
                rule((x(tick.value), floor), (x(tick.value), floor + 5)),
                text(tick.name, x(tick.value), floor + 19, "middle"),
            ]
        }
        return rows + columns + [
            text(acrossName, (Self.left + end) / 2, height - 6, "middle"),
            text(upName, 4, Self.top - 18, "start"),
        ]
    }

    private var lineMarks: [String] {
        lines.enumerated().flatMap { number, line in
            line.points.split { $0 == nil }.map { stretch in
                let positions = stretch.compactMap { $0 }.map { (x($0.x), y($0.y)) }
                if positions.count == 1 || positions.count <= 12 {
                    return dots(positions, number) + path(positions, number)
                }
                return path(positions, number)
            }
        }
    }

    private func path(_ positions: [(Double, Double)], _ number: Int) -> String {
        let points = positions.map { "\(Self.n($0.0)),\(Self.n($0.1))" }.joined(separator: " ")
        return "<polyline class=\"s\(number)\" points=\"\(points)\"/>"
    }

    private func dots(_ positions: [(Double, Double)], _ number: Int) -> String {
        positions.map {
            "<circle class=\"d\(number)\" cx=\"\(Self.n($0.0))\" cy=\"\(Self.n($0.1))\" r=\"3\"/>"
        }.joined()
    }

    private func rule(_ from: (Double, Double), _ to: (Double, Double)) -> String {
        "<line x1=\"\(Self.n(from.0))\" y1=\"\(Self.n(from.1))\" x2=\"\(Self.n(to.0))\" y2=\"\(Self.n(to.1))\"/>"
    }

    private func text(_ text: String, _ x: Double, _ y: Double, _ anchor: String) -> String {
        "<text x=\"\(Self.n(x))\" y=\"\(Self.n(y))\" text-anchor=\"\(anchor)\">\(Self.escaped(text))</text>"
    }

    /// Pixels with one decimal.
    private static func n(_ value: Double) -> String { String((value * 10).rounded() / 10) }

    static func escaped(_ text: String) -> String {
        text.reduce(into: "") { result, character in
            switch character {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            case "\"": result += "&quot;"
            default: result.append(character)
            }
        }
    }
}
