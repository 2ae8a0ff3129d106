/// How long PostgreSQL has been out of reach, and whether another attempt is worth its time.
struct Outage {
    private let limit: Duration
    private var began: ContinuousClock.Instant?
    private var lastAttempt: ContinuousClock.Instant?
    /// The time between two attempts after the limit has passed.
    private static let rest = Duration.seconds(1)
    /// The time between two attempts before that.
    static let pause = Duration.milliseconds(50)

    /// - Parameter limit: the time for which requests wait for the end of an outage.
    init(limit: Duration) { self.limit = limit }

    /// The end of the present attempts.
    func deadline(_ now: ContinuousClock.Instant) -> ContinuousClock.Instant {
        max((began ?? now) + limit, now)
    }

    /// Whether to try at all: always during the limit, then once a second.
    mutating func isWorthTrying(_ now: ContinuousClock.Instant) -> Bool {
        guard let began, now >= began + limit, let lastAttempt, now < lastAttempt + Self.rest else {
            lastAttempt = now
            return true
        }
        return false
    }

    /// An outage begins with the first attempt that fails, which may have waited for long.
    mutating func failed(since begin: ContinuousClock.Instant) { if began == nil { began = begin } }

    mutating func ended() { began = nil }
}
