import CoreMetrics
import Synchronization

/// The type of a metric.
enum PrometheusKind: String, Sendable {
    case counter, gauge, histogram
}

/// The values of one name and one set of labels.
protocol PrometheusSeries: AnyObject, Sendable {
    /// The samples: the suffix of the name, the bound of a histogram's bucket, and the value.
    var samples: [(suffix: String, bound: String?, value: Double)] { get }
}

/// A number that only grows.
final class CounterSeries: PrometheusSeries, CounterHandler {
    private let value = Atomic<Int64>(0)

    func increment(by amount: Int64) { value.wrappingAdd(amount, ordering: .relaxed) }

    func reset() { value.store(0, ordering: .relaxed) }

    var samples: [(suffix: String, bound: String?, value: Double)] {
        [("", nil, Double(value.load(ordering: .relaxed)))]
    }
}

/// A number with a fraction that only grows.
final class FloatingPointCounterSeries: PrometheusSeries, FloatingPointCounterHandler {
    private let value = Mutex(0.0)

    func increment(by amount: Double) { value.withLock { $0 += amount } }

    func reset() { value.withLock { $0 = 0 } }

    var samples: [(suffix: String, bound: String?, value: Double)] {
        [("", nil, value.withLock { $0 })]
    }
}

/// A number that something else counts.
final class FixedSeries: PrometheusSeries {
    private let value: Double

    init(_ value: Double) { self.value = value }

    var samples: [(suffix: String, bound: String?, value: Double)] { [("", nil, value)] }
}

/// A number that goes up and down.
final class GaugeSeries: PrometheusSeries, MeterHandler, RecorderHandler {
    private let value = Mutex(0.0)

    func set(_ value: Int64) { set(Double(value)) }
    func set(_ value: Double) { self.value.withLock { $0 = value } }
    func increment(by amount: Double) { value.withLock { $0 += amount } }
    func decrement(by amount: Double) { increment(by: -amount) }
    func record(_ value: Int64) { set(value) }
    func record(_ value: Double) { set(value) }

    var samples: [(suffix: String, bound: String?, value: Double)] {
        [("", nil, value.withLock { $0 })]
    }
}

/// The number of values up to each bound, and their sum.
final class HistogramSeries: PrometheusSeries, TimerHandler, RecorderHandler {
    private struct State {
        /// One more than there are bounds; the last one counts values above all bounds.
        var counts: [Int]
        var sum = 0.0
    }

    private let bounds: [Double]
    private let state: Mutex<State>

    /// - Parameter bounds: ascending; a value counts for the first bound that is not less than it.
    init(bounds: [Double]) {
        self.bounds = bounds
        state = Mutex(State(counts: [Int](repeating: 0, count: bounds.count + 1)))
    }

    func recordNanoseconds(_ duration: Int64) { record(Double(duration) / 1e9) }
    func record(_ value: Int64) { record(Double(value)) }

    func record(_ value: Double) {
        let index = bounds.firstIndex { value <= $0 } ?? bounds.count
        state.withLock { state in
            state.counts[index] += 1
            state.sum += value
        }
    }

    var samples: [(suffix: String, bound: String?, value: Double)] {
        let state = state.withLock { $0 }
        var total = 0
        var samples: [(suffix: String, bound: String?, value: Double)] = []
        for (index, count) in state.counts.enumerated() {
            total += count
            let bound =
                index < bounds.count ? PrometheusText.number(bounds[index]) : "+Inf"
            samples.append(("_bucket", bound, Double(total)))
        }
        samples.append(("_sum", nil, state.sum))
        samples.append(("_count", nil, Double(total)))
        return samples
    }
}
