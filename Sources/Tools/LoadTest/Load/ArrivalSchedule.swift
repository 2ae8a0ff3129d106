/// When the requests of a stage are due: at even intervals, whether or not earlier ones have been
/// answered.
///
/// This is an open loop: the service's users do not wait for each other. A request that cannot be
/// sent on time keeps its due time, and its latency counts from then.
///
/// Times are nanoseconds of a monotonic clock.
struct ArrivalSchedule {
    let begin: UInt64
    /// Requests a second.
    let rate: Double
    private(set) var count: Int
    /// How many have been taken.
    private(set) var taken = 0

    init(begin: UInt64, rate: Double, seconds: Double) {
        self.begin = begin
        self.rate = rate
        count = max(1, Int((rate * seconds).rounded()))
    }

    /// When a request is due, by its number from 0.
    ///
    /// Each time is computed from the beginning, so rounding errors do not accumulate.
    func due(_ number: Int) -> UInt64 { begin + UInt64(Double(number) * 1e9 / rate) }

    /// When the next request is due; nil when all have been taken.
    var next: UInt64? { taken < count ? due(taken) : nil }

    /// Takes the next request if it is due by `now`; else nil.
    mutating func take(at now: UInt64) -> UInt64? {
        guard let due = next, due <= now else { return nil }
        taken += 1
        return due
    }

    /// Drops the requests that are not due by `now`.
    mutating func end(at now: UInt64) { count = taken + waiting(at: now) }

    /// How many requests are due by `now` and have not been taken.
    func waiting(at now: UInt64) -> Int {
        guard now >= begin else { return 0 }
        var isDue = min(count, Int(Double(now - begin) * rate / 1e9) + 1)
        // The product may be rounded otherwise than the quotient in `due`.
        if isDue < count, due(isDue) <= now { isDue += 1 }
        if isDue > 0, due(isDue - 1) > now { isDue -= 1 }
        return max(0, isDue - taken)
    }
}
