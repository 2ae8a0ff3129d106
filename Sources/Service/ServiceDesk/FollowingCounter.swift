import CoreMetrics
import Synchronization

/// A counter of what something else counts, which is told its present number on demand.
///
/// The number may be told by several threads at once: an older one than was told before changes
/// nothing.
final class FollowingCounter: Sendable {
    private let counter: Counter
    private let told = Atomic<Int>(0)

    /// A counter that begins at 0.
    init(label: String, factory: any MetricsFactory = MetricsSystem.factory) {
        counter = Counter(label: label, factory: factory)
    }

    /// Brings the counter to the present number.
    func follow(_ number: Int) {
        let (before, now) = told.max(number, ordering: .relaxed)
        if now > before { counter.increment(by: now - before) }
    }
}

/// The same of a number with a fraction.
final class FollowingSeconds: Sendable {
    private let counter: FloatingPointCounter
    private let told = Atomic<Int64>(0)

    /// A counter that begins at 0.
    init(label: String, factory: any MetricsFactory = MetricsSystem.factory) {
        counter = FloatingPointCounter(label: label, factory: factory)
    }

    /// Brings the counter to the present number of microseconds.
    func follow(microseconds: Int64) {
        let (before, now) = told.max(microseconds, ordering: .relaxed)
        if now > before { counter.increment(by: Double(now - before) / 1e6) }
    }
}
