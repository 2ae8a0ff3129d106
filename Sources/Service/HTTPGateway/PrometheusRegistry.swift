import CoreMetrics
import Synchronization

/// A back end of swift-metrics that keeps the present numbers, for Prometheus to read as text.
///
///     let registry = PrometheusRegistry()
///     MetricsSystem.bootstrap(registry)
///     Counter(label: "geobucket_commits_total").increment()
///     registry.text()             // # HELP geobucket_commits_total …
///
/// Equal labels and dimensions are one series, whoever makes the handler. A label that the
/// catalogue does not know is kept as well; it has no help text.
///
/// - Reference: Prometheus, "Exposition formats", text format 0.0.4.
public final class PrometheusRegistry: MetricsFactory {
    /// The series of one name, by their labels as they are written.
    struct Family {
        var kind: PrometheusKind
        var series: [String: any PrometheusSeries] = [:]
    }

    private let families = Mutex<[String: Family]>([:])

    /// A registry without series.
    public init() {}

    /// The series of a counter: whole numbers, added up.
    public func makeCounter(
        label: String, dimensions: [(String, String)]
    ) -> any CounterHandler { series(label, dimensions, .counter) { CounterSeries() } }

    /// The series of a gauge, which takes values set and values added.
    public func makeMeter(label: String, dimensions: [(String, String)]) -> any MeterHandler {
        series(label, dimensions, .gauge) { GaugeSeries() }
    }

    /// A histogram of values where they are to be aggregated, else a gauge of the last one.
    public func makeRecorder(
        label: String, dimensions: [(String, String)], aggregate: Bool
    ) -> any RecorderHandler {
        guard aggregate else { return series(label, dimensions, .gauge) { GaugeSeries() } }
        return series(label, dimensions, .histogram) {
            HistogramSeries(bounds: MetricCatalogue.bounds(of: label))
        }
    }

    /// Timers are histograms of seconds.
    public func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
        series(label, dimensions, .histogram) {
            HistogramSeries(bounds: MetricCatalogue.bounds(of: label))
        }
    }

    /// Keeps the series: a counter that vanished and came back would look like a restart.
    public func destroyCounter(_ handler: any CounterHandler) {}

    /// Keeps the series.
    public func destroyMeter(_ handler: any MeterHandler) {}

    /// Keeps the series.
    public func destroyRecorder(_ handler: any RecorderHandler) {}

    /// Keeps the series.
    public func destroyTimer(_ handler: any TimerHandler) {}

    private func series<Series: PrometheusSeries>(
        _ name: String, _ dimensions: [(String, String)], _ kind: PrometheusKind,
        _ make: () -> Series
    ) -> Series {
        let labels = PrometheusText.labels(dimensions)
        return families.withLock { families in
            var family = families[name] ?? Family(kind: kind)
            guard let known = family.series[labels] else {
                let new = make()
                family.series[labels] = new
                families[name] = family
                return new
            }
            guard let series = known as? Series else {
                preconditionFailure("\(name) is a \(family.kind) and a \(kind)")
            }
            return series
        }
    }

    /// All numbers in Prometheus' text format, names and labels in their order.
    public func text() -> String {
        let families = families.withLock { $0 }
        var text = ""
        for (name, family) in families.sorted(by: { $0.key < $1.key }) {
            PrometheusText.append(family, named: name, to: &text)
        }
        return text
    }
}
