import Glibc

/// The processor time of the calling thread: how long it has worked, not how long it has waited.
///
///     let start = ThreadClock.now
///     …
///     start.duration(to: ThreadClock.now)     // what others had to wait for, however busy the machine
///
/// A moment and a deadline belong to the thread that asked for them.
public enum ThreadClock {
    /// The present moment of the calling thread. To ask for it costs a call of the system.
    public static var now: MonotonicTime { MonotonicTime(nanoseconds: processorNanoseconds()) }

    /// The end of some processor time of the calling thread that begins now.
    public static func deadline(after time: Duration) -> Deadline {
        ServiceClock(nanoseconds: processorNanoseconds).deadline(after: time)
    }
}

@Sendable private func processorNanoseconds() -> Int64 {
    nanoseconds(of: CLOCK_THREAD_CPUTIME_ID)
}
