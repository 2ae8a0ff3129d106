/// When the requests of a stage are due: evenly, whether or not earlier ones have been answered.
///
/// This is an open loop: the service's users do not wait for each other. A request that cannot be
/// sent on time keeps its due time, from which its latency counts.
///
/// Times are nanoseconds of a clock that only goes forward.
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
    /// Each is computed from the beginning, so rounding errors do not add up.
    func due(_ number: Int) -> UInt64 { begin + UInt64(Double(number) * 1e9 / rate) }

    /// When the next is due; nil when all have been taken.
    var next: UInt64? { taken < count ? due(taken) : nil }

    /// Takes the next that is due at a time; nil when there is none.
    mutating func take(at now: UInt64) -> UInt64? {
        guard let due = next, due <= now else { return nil }
        taken += 1
        return due
    }

    /// Drops what is not due by a time.
    mutating func end(at now: UInt64) { count = taken + waiting(at: now) }

    /// How many are due at a time and not taken.
    func waiting(at now: UInt64) -> Int {
        guard now >= begin else { return 0 }
        let due = min(count, Int(Double(now - begin) * rate / 1e9) + 1)
        return max(0, due - taken)
    }
}
