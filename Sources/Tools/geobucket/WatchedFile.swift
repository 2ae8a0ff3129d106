import Dispatch
import Logging
import Runtime
import ServiceDesk
import Synchronization

/// A file that configures a running service and may change at any time.
///
/// The file is checked from time to time and applied if it differs from the version applied last. If that
/// fails, the next check tries again. Checks never overlap, so an older file never replaces a newer
/// one. They run on a separate thread, so a file system that does not respond blocks nothing else.
final class WatchedFile: Sendable {
    /// Applies the contents of the file; returns the number of entries if they have changed.
    typealias Take = @Sendable ([UInt8]) throws -> Int?

    private struct State {
        /// The file as it was read last; nil if the next check must read it in any case.
        var seen: FileStamp?
        /// Whether a check is about to begin.
        var isDue = false
        /// When the check in progress began.
        var begun: MonotonicTime?
        /// Why the file as it was read last was not applied.
        var fault: String?
        /// The last complaint in the log, until the file is valid again.
        var complaint: (reason: String, at: MonotonicTime)?
    }

    let path: String
    /// The name of the file in the log.
    private let name: String
    private let maximumBytes: Int
    private let clock: ServiceClock
    private let logger: Logger
    private let thread: WorkThread
    private let state: Mutex<State>

    /// A check that takes longer is logged.
    private static let longCheck = Duration.seconds(5)
    /// How long an event loop waits for a check; it waits that long only if a file system hangs,
    /// and only once.
    private static let timeoutMilliseconds = 2_000
    /// The interval after which a complaint is repeated.
    private static let complaintInterval = Duration.seconds(60)

    /// - Parameter seen: the file as it was applied at the start.
    init(
        _ path: String, named name: String, maximumBytes: Int, seen: FileStamp?,
        clock: ServiceClock, logger: Logger
    ) {
        self.path = path
        self.name = name
        self.maximumBytes = maximumBytes
        self.clock = clock
        self.logger = logger
        thread = WorkThread(name)
        state = Mutex(State(seen: seen))
    }

    /// Schedules a check, unless one is about to begin.
    func check(_ take: @escaping Take) {
        let (isDue, begun) = state.withLock { state in
            defer { state.isDue = true }
            return (state.isDue, state.begun)
        }
        if !isDue {
            thread.async {
                self.state.withLock { $0.isDue = false }
                self.takeUp(take)
            }
        }
        if let begun, begun.duration(to: clock.now) > Self.longCheck {
            complain("reading it takes longer than \(Self.longCheck)")
        }
    }

    /// Checks the file and waits for the result, unless the file system does not respond.
    func checkNow(_ take: @escaping Take) {
        let begun = state.withLock { $0.begun }
        let timeout = Duration.milliseconds(Self.timeoutMilliseconds)
        if let begun, begun.duration(to: clock.now) >= timeout { return }
        let end = DispatchSemaphore(value: 0)
        thread.async {
            self.takeUp(take)
            end.signal()
        }
        _ = end.wait(timeout: .now() + .milliseconds(Self.timeoutMilliseconds))
    }

    private func takeUp(_ take: Take) {
        let seen = state.withLock { state in
            state.begun = clock.now
            return state.seen
        }
        defer { state.withLock { $0.begun = nil } }
        do {
            if let seen, try FileStamp(of: path) == seen { return noteSame() }
            let file = try TrustedFile(
                path: path, maximumBytes: maximumBytes, decidesLogins: true)
            state.withLock { $0.seen = file.stamp }
            noteTaken(try take(file.bytes))
        } catch let fault as TrustedFile.Fault {
            noteFault(fault, wasRead: false)
        } catch {
            noteFault(error, wasRead: true)
        }
    }

    // MARK: Logging

    private func noteTaken(_ count: Int?) {
        let hadFailed = state.withLock { state in
            defer { (state.fault, state.complaint) = (nil, nil) }
            return state.complaint != nil
        }
        if let count {
            logger.notice("\(name) read", metadata: ["count": .stringConvertible(count)])
        } else if hadFailed {
            logger.notice("\(name) read; they are as they were")
        }
    }

    private func noteFault(_ fault: any Error, wasRead: Bool) {
        state.withLock { state in
            state.fault = "\(fault)"
            if !wasRead { state.seen = nil }
        }
        complain("\(fault)")
    }

    /// The file is unchanged, so a fault in it remains.
    private func noteSame() {
        let fault = state.withLock { state in
            if state.fault == nil { state.complaint = nil }
            return state.fault
        }
        if let fault { complain(fault) }
    }

    private func complain(_ reason: String) {
        let isDue = state.withLock { state in
            let now = clock.now
            if let last = state.complaint, last.reason == reason,
                last.at.duration(to: now) < Self.complaintInterval
            {
                return false
            }
            state.complaint = (reason, now)
            return true
        }
        guard isDue else { return }
        logger.error(
            "the file of \(name) cannot be read; those known stay",
            metadata: ["reason": "\(reason)"])
    }
}
