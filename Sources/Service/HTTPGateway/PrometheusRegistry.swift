import CoreMetrics
import Synchronization

/// A swift-metrics back end that keeps the current values and writes them in Prometheus' text
/// format.
///
///     let registry = PrometheusRegistry()
///     MetricsSystem.bootstrap(registry)
///     Counter(label: "geobucket_commits_total").increment()
///     registry.text()             // # HELP geobucket_commits_total …
///
/// Handlers with equal labels and dimensions share one series. A label that is not in the catalogue
/// is kept as well, without a help text.
///
/// - Reference: Prometheus, "Exposition formats", text format 0.0.4.
public final class PrometheusRegistry: MetricsFactory {
    /// The series of one name, keyed by their labels in text form.
    struct Family {
        var kind: PrometheusKind
        var series: [String: any PrometheusSeries] = [:]
    }

    private let families = Mutex<[String: Family]>([:])

    /// A registry without series.
    public init() {}

    /// The series of a counter, which sums whole numbers.
    public func makeCounter(
        label: String, dimensions: [(String, String)]
    ) -> any CounterHandler { series(label, dimensions, .counter) { CounterSeries() } }

    /// The series of a counter, which sums numbers with a fraction.
    public func makeFloatingPointCounter(
        label: String, dimensions: [(String, String)]
    ) -> any FloatingPointCounterHandler {
        series(label, dimensions, .counter) { FloatingPointCounterSeries() }
    }

    /// The series of a gauge, which can be set and incremented.
    public func makeMeter(label: String, dimensions: [(String, String)]) -> any MeterHandler {
        series(label, dimensions, .gauge) { GaugeSeries() }
    }

    /// A histogram if the values are to be aggregated, else a gauge of the last value.
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
    public func destroyFloatingPointCounter(_ handler: any FloatingPointCounterHandler) {}

    /// Keeps the series.
    public func destroyMeter(_ handler: any MeterHandler) {}

    /// Keeps the series.
    public func destroyRecorder(_ handler: any RecorderHandler) {}

    /// Keeps the series.
    public func destroyTimer(_ handler: any TimerHandler) {}

    /// Replaces all series of a name by counters that something else keeps, so that their number
    /// stays bounded although their labels come and go.
    ///
    /// - Precondition: no two have equal labels, and no handler has the name.
    public func replaceCounters(
        named name: String, by counters: [(labels: [(String, String)], value: Double)]
    ) {
        let series = counters.map { (PrometheusText.labels($0.labels), FixedSeries($0.value)) }
        let family = Family(kind: .counter, series: Dictionary(uniqueKeysWithValues: series))
        families.withLock { $0[name] = family }
    }

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

    /// All series in Prometheus' text format, sorted by name and labels.
    public func text() -> String {
        let families = families.withLock { $0 }
        var text = ""
        for (name, family) in families.sorted(by: { $0.key < $1.key }) {
            PrometheusText.append(family, named: name, to: &text)
        }
        return text
    }
}
