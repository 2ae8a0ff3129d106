import Foundation

/// A drawing in the making; lengths in pixels, y downward.
struct SVG {
    private var elements: [String] = []
    private let width, height: Double

    /// How a text lies to its place.
    enum Anchor: String { case start, middle, end }

    /// An empty drawing on white.
    init(width: Double, height: Double) {
        self.width = width
        self.height = height
        rectangle(x: 0, y: 0, width: width, height: height, color: "#ffffff")
    }

    mutating func rectangle(
        x: Double, y: Double, width: Double, height: Double, color: String
    ) {
        elements.append(
            "<rect x=\"\(Self.n(x))\" y=\"\(Self.n(y))\" width=\"\(Self.n(width))\" height=\"\(Self.n(height))\" fill=\"\(color)\"/>"
        )
    }

    mutating func line(
        _ from: (x: Double, y: Double), _ to: (x: Double, y: Double), color: String = "#d0d0d0"
    ) {
        path([from, to], color: color, width: 1)
    }

    mutating func path(_ points: [(x: Double, y: Double)], color: String, width: Double = 2) {
        let text = points.map { "\(Self.n($0.x)),\(Self.n($0.y))" }.joined(separator: " ")
        elements.append(
            "<polyline points=\"\(text)\" fill=\"none\" stroke=\"\(color)\" stroke-width=\"\(width)\"/>"
        )
    }

    mutating func dot(_ at: (x: Double, y: Double), color: String) {
        elements.append(
            "<circle cx=\"\(Self.n(at.x))\" cy=\"\(Self.n(at.y))\" r=\"4\" fill=\"\(color)\"/>")
    }

    mutating func text(
        _ text: String, x: Double, y: Double, size: Double = 12, anchor: Anchor = .start,
        isBold: Bool = false
    ) {
        let escaped = text.replacingOccurrences(of: "&", with: "&amp;")
            .replacingOccurrences(of: "<", with: "&lt;")
        let weight = isBold ? " font-weight=\"bold\"" : ""
        elements.append(
            "<text x=\"\(Self.n(x))\" y=\"\(Self.n(y))\" font-size=\"\(size)\" text-anchor=\"\(anchor.rawValue)\"\(weight)>\(escaped)</text>"
        )
    }

    /// The drawing's source.
    var source: String {
        """
        <svg xmlns="http://www.w3.org/2000/svg" width="\(Self.n(width))" height="\(Self.n(height))" \
        viewBox="0 0 \(Self.n(width)) \(Self.n(height))" font-family="Helvetica, Arial, sans-serif" \
        fill="#222222">
        \(elements.joined(separator: "\n"))
        </svg>

        """
    }

    private static func n(_ value: Double) -> String { String(format: "%.1f", value) }
}

/// Colours that the colour-blind tell apart.
///
/// - Reference: Okabe and Ito, "Color Universal Design", 2008.
enum Palette {
    static func color(of peer: String) -> String {
        colors[peer] ?? "#000000"
    }

    private static let colors = [
        "geobucket": "#0072b2", "before": "#99c7e0", "engine": "#56b4e9", "redis": "#d55e00",
        "redis-made": "#e69f00", "postgis": "#009e73", "postgis-made": "#7fcfb5",
        "sqlite": "#cc79a7", "echo": "#999999",
        "index": "#444444",
    ]
}

/// A logarithmic axis over whole decades.
struct LogAxis {
    private let low, high: Double
    let start, end: Double

    /// From the values it has to hold and the pixels it lies between.
    init(_ values: [Double], from start: Double, to end: Double) {
        let logs = values.filter { $0 > 0 }.map(log10)
        low = (logs.min() ?? 0).rounded(.down)
        high = max(low + 1, (logs.max() ?? 1).rounded(.up))
        self.start = start
        self.end = end
    }

    func position(_ value: Double) -> Double {
        start + (log10(value) - low) / (high - low) * (end - start)
    }

    /// The decades, with their names.
    var ticks: [(value: Double, name: String)] {
        (Int(low)...Int(high)).map { power in
            let value = pow(10, Double(power))
            let name =
                value >= 1e6
                ? "\(Int(value / 1e6)) M"
                : value >= 1e3 ? "\(Int(value / 1e3)) k" : String(format: "%g", value)
            return (value, name)
        }
    }
}
