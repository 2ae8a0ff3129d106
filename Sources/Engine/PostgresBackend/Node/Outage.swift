import Runtime

/// How long PostgreSQL has been out of reach, and whether another attempt is worth its time.
struct Outage {
    private let limit: Duration
    private let clock: ServiceClock
    private var began: MonotonicTime?
    private var lastAttempt: MonotonicTime?
    /// The time between two attempts after the limit has passed.
    private static let rest = Duration.seconds(1)
    /// The time between two attempts before that.
    static let pause = Duration.milliseconds(50)

    /// - Parameter limit: the time for which requests wait for the end of an outage.
    init(limit: Duration, clock: ServiceClock) {
        self.limit = limit
        self.clock = clock
    }

    /// The end of the attempts of which one begins at a time.
    func deadline(_ begin: MonotonicTime) -> MonotonicTime {
        max((began ?? begin).advanced(by: limit), begin)
    }

    /// Whether to try at all: always during the limit, then once a second.
    mutating func isWorthTrying() -> Bool {
        let now = clock.now
        guard let began, now >= began.advanced(by: limit), let lastAttempt,
            now < lastAttempt.advanced(by: Self.rest)
        else {
            lastAttempt = now
            return true
        }
        return false
    }

    /// An outage begins with the first attempt that fails, which may have waited for long.
    mutating func failed(since begin: MonotonicTime) { if began == nil { began = begin } }

    mutating func ended() { began = nil }
}
