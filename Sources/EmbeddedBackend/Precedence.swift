import Glibc

/// Which threads give way to which.
enum Precedence {
    /// Readers need a processor for microseconds, those who write wait for the disk anyway: Linux gives
    /// the writer's thread less of a processor that others want, and all of one that is idle. At 3
    /// readers beside a full load of writes keep half of their rate alone, at 10 the writes a quarter
    /// of theirs.
    private static let niceness: Int32 = 7

    /// Has the calling thread, one that works for writes, give way to those of readers from now on.
    static func giveWayToReaders() {
        setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, niceness)
    }
}
