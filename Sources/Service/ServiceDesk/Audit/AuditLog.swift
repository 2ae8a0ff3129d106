import Logging
import Objects
import Runtime
import Synchronization

/// Who did what, in a file of JSON lines.
///
///     let audit = try AuditLog(path: "audit.log", limits, clock: clock, logger: logger)
///
/// Lines are written by a thread of their own, in the order in which they were noted. The service does
/// not wait for it: of more lines than may wait, and of lines that cannot be written, it only counts
/// how many are lost.
public final class AuditLog: Sendable {
    private struct State {
        var waiting: [AuditEntry] = []
        var isScheduled = false
        var hasEnded = false
    }

    /// The file, which only the thread uses.
    private struct Output: ~Copyable {
        var file: AuditFile
        var lastComplaint: MonotonicTime?
    }

    private let withReads: Atomic<Bool>
    private let clock: ServiceClock
    private let logger: Logger
    private let state = Mutex(State())
    private let output: Mutex<Output>
    private let lost = Atomic<Int>(0)
    private let thread: WorkThread

    /// Lines that may wait for the thread.
    static let waitingLines = 10_000
    /// Lines that are written at once.
    private static let linesAtOnce = 1_000
    /// The time after which a complaint is repeated.
    private static let complaintInterval = Duration.seconds(60)

    /// Why the file cannot be used.
    public struct Fault: Error, CustomStringConvertible {
        /// The reason, without the path.
        public let description: String
    }

    /// Opens the file, or creates it.
    ///
    /// - Parameter limits: `auditBytes` and `auditFiles`.
    public convenience init(
        path: String, notesReads: Bool, _ limits: Limits, clock: ServiceClock, logger: Logger
    ) throws(Fault) {
        try self.init(
            path: path, notesReads: notesReads, limits, clock: clock, logger: logger,
            thread: WorkThread("audit"))
    }

    /// - Parameter thread: writes the lines.
    init(
        path: String, notesReads: Bool, _ limits: Limits, clock: ServiceClock, logger: Logger,
        thread: WorkThread
    ) throws(Fault) {
        do throws(AuditFile.Fault) {
            let file = try AuditFile(
                path: path, maximumBytes: limits.auditBytes, keptFiles: limits.auditFiles)
            output = Mutex(Output(file: file))
        } catch {
            throw Fault(description: error.description)
        }
        withReads = Atomic(notesReads)
        (self.clock, self.logger) = (clock, logger)
        self.thread = thread
    }

    /// Whether what only reads is noted too.
    public var notesReads: Bool {
        get { withReads.load(ordering: .relaxed) }
        set { withReads.store(newValue, ordering: .relaxed) }
    }

    /// Applies `auditBytes` and `auditFiles`, once what waits has been written.
    func apply(_ limits: Limits) {
        thread.async { [self] in
            output.withLock { output in
                output.file.maximumBytes = limits.auditBytes
                output.file.keptFiles = limits.auditFiles
            }
        }
    }

    /// How many lines were lost.
    var lostLines: Int { lost.load(ordering: .relaxed) }

    /// Notes what happened now.
    func note(_ entry: AuditEntry) {
        let (isLost, isFirst) = state.withLock { state in
            guard !state.hasEnded, state.waiting.count < Self.waitingLines else {
                return (true, false)
            }
            state.waiting.append(entry)
            defer { state.isScheduled = true }
            return (false, !state.isScheduled)
        }
        if isLost { lost.add(1, ordering: .relaxed) }
        if isFirst { thread.async { [self] in writeWaiting() } }
    }

    /// Opens the file anew, once what waits has been written.
    public func reopen() {
        thread.async { [self] in
            output.withLock { output in
                do throws(AuditFile.Fault) {
                    try output.file.reopen()
                    logger.notice("audit log opened")
                } catch {
                    logger.error(
                        "the audit log cannot be opened; the old file stays",
                        metadata: ["reason": "\(error)"])
                }
            }
        }
    }

    /// Writes what waits, and takes no more.
    public func end() {
        state.withLock { $0.hasEnded = true }
        thread.sync { writeWaiting() }
    }

    private func writeWaiting() {
        let entries = state.withLock { state in
            defer { (state.waiting, state.isScheduled) = ([], false) }
            return state.waiting
        }
        var rest = entries[...]
        while !rest.isEmpty {
            write(rest.prefix(Self.linesAtOnce))
            rest = rest.dropFirst(Self.linesAtOnce)
        }
    }

    private func write(_ entries: ArraySlice<AuditEntry>) {
        let lines = entries.map(\.line)
        output.withLock { output in
            let before = output.file.lines
            do throws(AuditFile.Fault) {
                try output.file.append(lines)
            } catch {
                lost.add(lines.count - (output.file.lines - before), ordering: .relaxed)
                complain(error, &output.lastComplaint)
            }
        }
    }

    private func complain(_ fault: AuditFile.Fault, _ last: inout MonotonicTime?) {
        let now = clock.now
        if let last, last.duration(to: now) < Self.complaintInterval { return }
        last = now
        logger.error(
            "lines of the audit log are lost",
            metadata: ["reason": "\(fault)", "lost": .stringConvertible(lostLines)])
    }
}
