import Glibc

/// Which threads give way to which, as Linux's niceness: it gives a thread that is nicer less of a
/// processor that others want, and all of one that is idle.
///
/// Event loops need a processor for microseconds and come first.
public enum Niceness: Int32, Sendable {
    case none = 0
    /// Waits for the disk anyway. Beside a full load of writes readers keep half of their rate alone at
    /// 3, two thirds at 8, three quarters at 10, where the writes keep a quarter of theirs.
    case writer = 10
    /// Makes nobody wait but the writer, if it comes back from the disk and must wait for a processor:
    /// at the writer's own niceness, 99 of 100 puts at a fixed rate were answered within 13 ms instead
    /// of 6. Much nicer, and under a full load the log would grow faster than it is taken.
    case background = 13

    /// What reads take that would hold up an event loop.
    public static let costlyReads = writer

    /// Has the calling thread take this place from now on; without a privilege it cannot go back. Only
    /// for whoever has started the thread.
    public func take() {
        guard self != .none else { return }
        setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, rawValue)
    }
}
