import Synchronization

/// So many at once, then one each interval: a leaky bucket (the generic cell rate algorithm).
///
/// Times are nanoseconds of any clock that does not go back.
public struct RateLimit: Sendable {
    /// How much an allowance allows.
    public struct Rule: Sendable {
        /// How many may come at once.
        public let burst: Int
        /// Nanoseconds after which one of those that were taken is given back.
        public let intervalNanoseconds: Int64

        /// Stores its arguments.
        public init(burst: Int, intervalNanoseconds: Int64) {
            self.burst = burst
            self.intervalNanoseconds = intervalNanoseconds
        }
    }

    /// When all that was taken will have been given back.
    private var restored: Int64 = .min

    /// An allowance of which nothing has been taken.
    public init() {}

    /// Nanoseconds to wait before one may be taken; 0 when it may be now.
    public func wait(_ rule: Rule, now: Int64) -> Int64 {
        guard restored > now else { return 0 }
        return max(0, restored - now - rule.intervalNanoseconds * Int64(rule.burst - 1))
    }

    /// Takes one, whether or not `wait` is 0: those that come too early make the next wait longer.
    public mutating func take(_ rule: Rule, now: Int64) {
        restored = max(restored, now) + rule.intervalNanoseconds
    }

    /// Whether all that was taken has been given back, so that it is as good as a new one.
    public func isFull(now: Int64) -> Bool { restored <= now }
}

/// An allowance for each name, such as a principal or an address; those that are full again are
/// forgotten, so memory is bounded by what was taken of late.
final class RateLimits: Sendable {
    private struct State {
        var byName: [String: RateLimit] = [:]
        var sweepAt = 1_024
    }

    private let rule: RateLimit.Rule
    private let state = Mutex(State())

    init(_ rule: RateLimit.Rule) { self.rule = rule }

    /// Nanoseconds to wait before the next may be taken; 0 when it may be now.
    func wait(_ name: String, now: Int64) -> Int64 {
        state.withLock { $0.byName[name]?.wait(rule, now: now) ?? 0 }
    }

    func take(_ name: String, now: Int64) {
        state.withLock { state in
            state.byName[name, default: RateLimit()].take(rule, now: now)
            guard state.byName.count > state.sweepAt else { return }
            state.byName = state.byName.filter { !$0.value.isFull(now: now) }
            state.sweepAt = max(1_024, state.byName.count * 2)
        }
    }

    /// Takes one, unless one has to wait.
    ///
    /// - Returns: the nanoseconds to wait, 0 when it was taken.
    func tryTake(_ name: String, now: Int64) -> Int64 {
        let wait = wait(name, now: now)
        if wait == 0 { take(name, now: now) }
        return wait
    }
}
