import Objects
import Synchronization

/// The limits that may change while the service runs.
public final class LiveLimits: Sendable {
    /// Their names, as `LimitSetting` has them; those of the audit log are its own.
    public static let names: Set<String> = [
        "slowQueryMilliseconds", "requestsPerSecond", "failedLogins", "failedLoginMilliseconds",
        "auditBytes", "auditFiles",
    ]

    private let slowQuery: Atomic<Int>
    private let requests: Atomic<Int>
    private let logins: Atomic<Int>
    private let loginWait: Atomic<Int>

    init(_ limits: Limits) {
        slowQuery = Atomic(limits.slowQueryMilliseconds)
        requests = Atomic(limits.requestsPerSecond)
        logins = Atomic(limits.failedLogins)
        loginWait = Atomic(limits.failedLoginMilliseconds)
    }

    func apply(_ limits: Limits) {
        slowQuery.store(limits.slowQueryMilliseconds, ordering: .relaxed)
        requests.store(limits.requestsPerSecond, ordering: .relaxed)
        logins.store(limits.failedLogins, ordering: .relaxed)
        loginWait.store(limits.failedLoginMilliseconds, ordering: .relaxed)
    }

    /// Milliseconds after which a read is logged; 0: none is.
    public var slowQueryMilliseconds: Int { slowQuery.load(ordering: .relaxed) }

    /// Requests of one principal or address in a second; 0: no bound.
    var requestsPerSecond: Int { requests.load(ordering: .relaxed) }

    /// The limits, with those that have changed since the start.
    func present(_ limits: Limits) -> Limits {
        var limits = limits
        limits.slowQueryMilliseconds = slowQueryMilliseconds
        limits.requestsPerSecond = requestsPerSecond
        limits.failedLogins = logins.load(ordering: .relaxed)
        limits.failedLoginMilliseconds = loginWait.load(ordering: .relaxed)
        return limits
    }
}
