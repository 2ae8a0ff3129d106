import Glibc

/// Where a service's time comes from; a test may have its own.
public struct ServiceClock: Sendable {
    /// Of a clock that does not go back.
    public var nanoseconds: @Sendable () -> Int64 = { monotonicNanoseconds() }
    /// Since 1970.
    public var milliseconds: @Sendable () -> Int64 = { wallMilliseconds() }

    /// The system's clocks.
    public init() {}
}

/// Nanoseconds of a clock that does not go back.
public func monotonicNanoseconds() -> Int64 { nanoseconds(of: CLOCK_MONOTONIC) }

/// Milliseconds since 1970.
public func wallMilliseconds() -> Int64 { nanoseconds(of: CLOCK_REALTIME) / 1_000_000 }

private func nanoseconds(of clock: clockid_t) -> Int64 {
    var time = timespec()
    clock_gettime(clock, &time)
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
}
