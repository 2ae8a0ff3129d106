import Synchronization

/// A rate limit: a burst at once, then one request per interval. It is a leaky bucket (the generic
/// cell rate algorithm).
///
/// Times are nanoseconds of any monotonic clock.
public struct RateLimit: Sendable {
    /// The parameters of a rate limit.
    public struct Rule: Sendable {
        /// How many requests may come at once.
        public let burst: Int
        /// Nanoseconds after which one more request is allowed.
        public let intervalNanoseconds: Int64
        /// The nanoseconds by which a request may be early; `Int64.max` for more.
        fileprivate let toleranceNanoseconds: Int64

        /// Stores its arguments.
        public init(burst: Int, intervalNanoseconds: Int64) {
            self.burst = burst
            self.intervalNanoseconds = intervalNanoseconds
            let (tolerance, isTooMuch) = intervalNanoseconds.multipliedReportingOverflow(
                by: Int64(burst - 1))
            toleranceNanoseconds = isTooMuch ? .max : tolerance
        }
    }

    /// When the full burst will be available again.
    private var restored: Int64 = .min

    /// A rate limit with its full burst available.
    public init() {}

    /// Nanoseconds until the next request is allowed; 0 when it is allowed now.
    public func wait(_ rule: Rule, now: Int64) -> Int64 {
        guard restored > now else { return 0 }
        return max(0, restored - now - rule.toleranceNanoseconds)
    }

    /// Counts a request, whether or not `wait` is 0: early requests make the next wait longer.
    public mutating func take(_ rule: Rule, now: Int64) {
        let (sum, isTooMuch) = max(restored, now).addingReportingOverflow(rule.intervalNanoseconds)
        restored = isTooMuch ? .max : sum
    }

    /// Whether the full burst is available, so that the state equals a new one.
    public func isFull(now: Int64) -> Bool { restored <= now }
}

/// A rate limit for each name, such as a principal or an address. Names whose full burst is
/// available again are forgotten, so recent requests bound the memory.
final class RateLimits: Sendable {
    private struct State {
        var rule: RateLimit.Rule
        var byName: [String: RateLimit] = [:]
        var sweepAt = 1_024
    }

    private let state: Mutex<State>

    init(_ rule: RateLimit.Rule) { state = Mutex(State(rule: rule)) }

    /// Applies another rule from now on. What was taken by the former one stays taken.
    func replace(_ rule: RateLimit.Rule) { state.withLock { $0.rule = rule } }

    /// Nanoseconds until the next request is allowed; 0 when it is allowed now.
    func wait(_ name: String, now: Int64) -> Int64 {
        state.withLock { $0.byName[name]?.wait($0.rule, now: now) ?? 0 }
    }

    func take(_ name: String, now: Int64) {
        state.withLock { state in
            state.byName[name, default: RateLimit()].take(state.rule, now: now)
            guard state.byName.count > state.sweepAt else { return }
            state.byName = state.byName.filter { !$0.value.isFull(now: now) }
            state.sweepAt = max(1_024, state.byName.count * 2)
        }
    }

    /// Counts a request if it is allowed now.
    ///
    /// - Returns: the nanoseconds to wait, 0 when the request was counted.
    func tryTake(_ name: String, now: Int64) -> Int64 {
        let wait = wait(name, now: now)
        if wait == 0 { take(name, now: now) }
        return wait
    }
}
