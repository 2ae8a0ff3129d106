import Glibc

/// Clocks of the system, in nanoseconds.
enum Clocks {
    /// The monotonic clock, which event loops use too.
    static var monotonic: UInt64 { time(of: CLOCK_MONOTONIC) }

    /// Processor time of the calling thread.
    static var threadCPU: UInt64 { time(of: CLOCK_THREAD_CPUTIME_ID) }

    /// Processor time of all threads of the process.
    static var processCPU: UInt64 { time(of: CLOCK_PROCESS_CPUTIME_ID) }

    private static func time(of clock: clockid_t) -> UInt64 {
        var time = timespec()
        clock_gettime(clock, &time)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }
}
