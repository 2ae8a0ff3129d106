import Glibc

/// The source of a service's time. A test may replace it.
public struct ServiceClock: Sendable {
    /// Nanoseconds of a monotonic clock.
    public var nanoseconds: @Sendable () -> Int64
    /// Milliseconds since 1970.
    public var milliseconds: @Sendable () -> Int64

    /// The system's clocks, or others in their place.
    public init(
        nanoseconds: @escaping @Sendable () -> Int64 = monotonicNanoseconds,
        milliseconds: @escaping @Sendable () -> Int64 = wallMilliseconds
    ) {
        self.nanoseconds = nanoseconds
        self.milliseconds = milliseconds
    }

    /// The present moment of the monotonic clock.
    public var now: MonotonicTime { MonotonicTime(nanoseconds: nanoseconds()) }

    /// The end of a time that begins now.
    public func deadline(after time: Duration) -> Deadline {
        Deadline(now.advanced(by: time), nanoseconds)
    }
}

/// A moment of a monotonic clock.
public struct MonotonicTime: InstantProtocol {
    /// Nanoseconds since some moment before the service began.
    public var nanoseconds: Int64

    /// Stores its argument.
    public init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

    /// The moment so much later, or the last one that can be expressed.
    public func advanced(by duration: Duration) -> MonotonicTime {
        let (sum, isTooLarge) = nanoseconds.addingReportingOverflow(duration.nanoseconds)
        return MonotonicTime(
            nanoseconds: isTooLarge ? (duration < .zero ? .min : .max) : sum)
    }

    /// The time until another moment.
    public func duration(to other: MonotonicTime) -> Duration {
        .nanoseconds(other.nanoseconds) - .nanoseconds(nanoseconds)
    }

    /// Whether the other moment is later.
    public static func < (left: MonotonicTime, right: MonotonicTime) -> Bool {
        left.nanoseconds < right.nanoseconds
    }
}

/// The moment at which a wait or a computation has to end, by a service's clock.
public struct Deadline: Sendable {
    private let time: MonotonicTime
    private let nanoseconds: @Sendable () -> Int64

    fileprivate init(_ time: MonotonicTime, _ nanoseconds: @escaping @Sendable () -> Int64) {
        self.time = time
        self.nanoseconds = nanoseconds
    }

    private var now: MonotonicTime { MonotonicTime(nanoseconds: nanoseconds()) }

    /// Whether the moment has come.
    public var isOver: Bool { now >= time }

    /// The time until the moment; zero afterwards.
    public var timeLeft: Duration { max(.zero, now.duration(to: time)) }

    /// A deadline so much earlier.
    public func earlier(by duration: Duration) -> Deadline {
        Deadline(time.advanced(by: .zero - duration), nanoseconds)
    }
}

extension Duration {
    /// The nanoseconds, or as many as can be expressed.
    public var nanoseconds: Int64 {
        let (seconds, attoseconds) = components
        let (whole, isTooLarge) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        return isTooLarge ? (seconds < 0 ? .min : .max) : whole &+ attoseconds / 1_000_000_000
    }
}

/// Nanoseconds of a monotonic clock.
@Sendable public func monotonicNanoseconds() -> Int64 { nanoseconds(of: CLOCK_MONOTONIC) }

/// Milliseconds since 1970.
@Sendable public func wallMilliseconds() -> Int64 { nanoseconds(of: CLOCK_REALTIME) / 1_000_000 }

func nanoseconds(of clock: clockid_t) -> Int64 {
    var time = timespec()
    clock_gettime(clock, &time)
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
}
