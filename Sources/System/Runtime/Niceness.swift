import Glibc
import Synchronization

/// Who goes first when requests want more processor time than there is. Whoever is alone gets all of
/// it in any case. The shares are those that docs/measured/mixed-load.md has.
public enum Preference: String, CaseIterable, Sendable {
    /// Neither: cheap reads keep about half of the rate that they reach alone, and writes somewhat
    /// less than half of theirs.
    case balance
    /// Reads, which keep three quarters of their rate; writes keep a third of theirs.
    case reads
    /// Writes, which keep half of their rate; reads keep two fifths of theirs.
    case writes
}

/// The scheduling priority of a thread by what it does, as Linux's niceness. A nicer thread gets less
/// of a processor that other threads want, but all of an idle one.
public enum Niceness: Sendable {
    /// Needs a processor only for microseconds at a time.
    case none
    /// Answers requests, and runs cheap reads.
    case eventLoop
    /// The writer mostly waits for the disk.
    case writer
    /// Reads that would delay an event loop.
    case costlyReads
    /// Merges, checkpoints and the like. If these threads were much nicer than the writer, the log
    /// would grow faster under full load than it is checkpointed, and points would pile up that no
    /// tree has.
    case background

    private struct Report: Sendable {
        let call: @Sendable (_ reason: String) -> Void
    }

    private static let chosen = Atomic(0)
    /// Nil once it has been called.
    private static let report = Mutex<Report?>(nil)

    /// Decides who goes first. It concerns threads that begin after it.
    ///
    /// - Parameter refused: called once, on the thread that the system first refuses its niceness.
    public static func prefer(
        _ preference: Preference, refused: @escaping @Sendable (_ reason: String) -> Void
    ) {
        chosen.store(Preference.allCases.firstIndex(of: preference)!, ordering: .relaxed)
        report.withLock { $0 = Report(call: refused) }
    }

    /// Linux's number, from 0; each step is a fifth less of a contended processor.
    func number(with preference: Preference) -> Int32 {
        switch (self, preference) {
        case (.none, _), (.eventLoop, .reads), (.writer, .balance), (.writer, .writes): 0
        case (.eventLoop, .balance): 2
        case (.eventLoop, .writes): 5
        case (.background, .balance), (.background, .writes): 3
        case (.writer, .reads), (.costlyReads, _): 10
        case (.background, .reads): 13
        }
    }

    /// Gives the calling thread this niceness. Without a privilege it cannot go back. Only the code
    /// that has started the thread may call this.
    public func take() {
        let number = number(with: Preference.allCases[Self.chosen.load(ordering: .relaxed)])
        guard number > 0, setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, number) != 0
        else { return }
        let reason = String(cString: strerror(errno))
        Self.report.withLock { $0.take() }?.call(reason)
    }
}
