import Glibc

/// The scheduling priority of threads, as Linux's niceness. A nicer thread gets less of a processor
/// that other threads want, but all of an idle one.
///
/// Event loops need a processor only for microseconds and come first.
public enum Niceness: Int32, Sendable {
    case none = 0
    /// The writer mostly waits for the disk. Under a full load of writes, readers keep this share
    /// of the rate that they reach alone: half at 3, two thirds at 8, and three quarters at 10,
    /// where the writes keep a quarter of theirs.
    case writer = 10
    /// Only the writer can wait for these threads, when it returns from the disk and needs a
    /// processor. At the writer's own niceness, 99 of 100 puts at a fixed rate were answered within
    /// 13 ms instead of 6 ms. If these threads were much nicer, the log would grow faster under
    /// full load than it is checkpointed.
    case background = 13

    /// The niceness of reads that would delay an event loop.
    public static let costlyReads = writer

    /// Gives the calling thread this niceness. Without a privilege it cannot go back. Only the code
    /// that has started the thread may call this.
    public func take() {
        guard self != .none else { return }
        setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, rawValue)
    }
}
