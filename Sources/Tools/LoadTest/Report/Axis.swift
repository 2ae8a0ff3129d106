import Glibc

/// Maps values to positions along a chart's edge.
struct Axis {
    struct Tick {
        var value: Double
        var name: String
    }

    private let project: (Double) -> Double
    private let range: ClosedRange<Double>
    let ticks: [Tick]

    /// 0 at the near end, 1 at the far end; outside that range for values off the axis.
    func position(_ value: Double) -> Double {
        (project(value) - range.lowerBound) / (range.upperBound - range.lowerBound)
    }

    /// From 0, or from a lower bound, to a round number above the values.
    static func linear(_ values: [Double], from low: Double = 0, isRound: Bool = true) -> Axis {
        let high = max(values.max() ?? 1, low + 1e-9)
        let step = Self.step((high - low) / 5)
        let top = isRound ? low + ((high - low) / step).rounded(.up) * step : high
        let ticks = stride(from: low, through: top + step * 1e-9, by: step)
            .map { Tick(value: $0, name: Figures.number($0)) }
        return Axis(project: { $0 }, range: low...top, ticks: ticks)
    }

    /// 1, 2 or 5 times a power of ten, not less than `least`.
    private static func step(_ least: Double) -> Double {
        let power = pow(10, log10(least).rounded(.down))
        return power * ([1, 2, 5, 10].first { $0 * power >= least * (1 - 1e-9) } ?? 10)
    }

    /// Whole decades around the values; for values above 0.
    static func logarithmic(_ values: [Double]) -> Axis {
        let logs = values.filter { $0 > 0 }.map(log10)
        let low = Int((logs.min() ?? 0).rounded(.down))
        let high = max(low + 1, Int((logs.max() ?? 0).rounded(.up)))
        let ticks = (low...high).map { power in
            let value = pow(10, Double(power))
            return Tick(value: value, name: Figures.number(value))
        }
        let floor = pow(10, Double(low))
        return Axis(
            project: { log10(max($0, floor)) }, range: Double(low)...Double(high), ticks: ticks)
    }

    /// Percentages by their number of nines: 90, 99 and 99.9 are equally far apart.
    static func nines(_ percentages: [Double]) -> Axis {
        let most = percentages.filter { $0 < 100 }.max() ?? 99
        let ticks = [0, 50, 90, 99, 99.9, 99.99, 99.999].filter { $0 <= most }
            .map { Tick(value: $0, name: $0 < 99.9 ? "\(Int($0)) %" : "\($0) %") }
        let project: (Double) -> Double = { -log10(1 - min($0, most) / 100) }
        return Axis(project: project, range: 0...project(most), ticks: ticks)
    }
}
