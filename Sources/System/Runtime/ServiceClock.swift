import Glibc

/// The source of a service's time. A test may replace it.
public struct ServiceClock: Sendable {
    /// Nanoseconds of a monotonic clock.
    public var nanoseconds: @Sendable () -> Int64 = { monotonicNanoseconds() }
    /// Milliseconds since 1970.
    public var milliseconds: @Sendable () -> Int64 = { wallMilliseconds() }

    /// The system's clocks.
    public init() {}
}

/// Nanoseconds of a monotonic clock.
public func monotonicNanoseconds() -> Int64 { nanoseconds(of: CLOCK_MONOTONIC) }

/// Milliseconds since 1970.
public func wallMilliseconds() -> Int64 { nanoseconds(of: CLOCK_REALTIME) / 1_000_000 }

private func nanoseconds(of clock: clockid_t) -> Int64 {
    var time = timespec()
    clock_gettime(clock, &time)
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
}
