import Dispatch
import Logging
import Operations
import Synchronization

/// A file that a running service goes by and that may change at any time.
///
/// It is looked at again and again, and taken up when it is another than the one that was taken up
/// last; where that fails, at the next look. Looks are made one after the other, so an older file never
/// takes the place of a newer one, and on a thread of their own: a file system that does not answer
/// holds up nothing else.
final class WatchedFile: Sendable {
    /// Takes up what the file holds, and tells of how many entries when they are others than before.
    typealias Take = @Sendable ([UInt8]) throws -> Int?

    private struct State {
        /// The file as it was read last; nil where the next look has to read it whatever it is like.
        var seen: FileStamp?
        /// When the look under way began.
        var begun: ContinuousClock.Instant?
        /// Why the file as it was read last has not been taken up.
        var fault: String?
        /// What was complained of last, until all is well again.
        var complaint: (reason: String, at: ContinuousClock.Instant)?
    }

    private let path: String
    /// What the log calls it.
    private let name: String
    private let maximumBytes: Int
    private let logger: Logger
    private let queue: DispatchQueue
    private let state: Mutex<State>

    /// A look that takes longer is complained of.
    private static let longLook = Duration.seconds(5)
    /// So long somebody waits for a look: an event loop, so only when a file system hangs, and once.
    private static let patienceMilliseconds = 2_000
    /// A complaint is repeated after so long.
    private static let complaintInterval = Duration.seconds(60)

    /// - Parameter seen: the file as it was taken up at the start.
    init(
        _ path: String, named name: String, maximumBytes: Int, seen: FileStamp?, logger: Logger
    ) {
        self.path = path
        self.name = name
        self.maximumBytes = maximumBytes
        self.logger = logger
        queue = DispatchQueue(label: "geobucket.\(name)")
        state = Mutex(State(seen: seen))
    }

    /// Has the file looked at soon, unless that is under way.
    func look(_ take: @escaping Take) {
        guard let begun = state.withLock({ $0.begun }) else {
            return queue.async { self.takeUp(take) }
        }
        if ContinuousClock.now - begun > Self.longLook {
            complain("reading it takes longer than \(Self.longLook)")
        }
    }

    /// Looks at the file and waits for that, though not for a file system that does not answer.
    func lookNow(_ take: @escaping Take) {
        let begun = state.withLock { $0.begun } ?? .now
        guard ContinuousClock.now - begun < .milliseconds(Self.patienceMilliseconds) else { return }
        let end = DispatchSemaphore(value: 0)
        queue.async {
            self.takeUp(take)
            end.signal()
        }
        _ = end.wait(timeout: .now() + .milliseconds(Self.patienceMilliseconds))
    }

    private func takeUp(_ take: Take) {
        let seen = state.withLock { state in
            state.begun = .now
            return state.seen
        }
        defer { state.withLock { $0.begun = nil } }
        do {
            if let seen, try FileStamp(of: path) == seen { return noteSame() }
            let file = try TrustedFile(path: path, maximumBytes: maximumBytes)
            state.withLock { $0.seen = file.stamp }
            noteTaken(try take(file.bytes))
        } catch let fault as TrustedFile.Fault {
            noteFault(fault, wasRead: false)
        } catch {
            noteFault(error, wasRead: true)
        }
    }

    // MARK: What the log says

    private func noteTaken(_ count: Int?) {
        let hadFailed = state.withLock { state in
            defer { (state.fault, state.complaint) = (nil, nil) }
            return state.complaint != nil
        }
        if let count {
            logger.notice("\(name) read", metadata: ["count": "\(count)"])
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

    /// What could not be taken up cannot be now either.
    private func noteSame() {
        let fault = state.withLock { state in
            if state.fault == nil { state.complaint = nil }
            return state.fault
        }
        if let fault { complain(fault) }
    }

    private func complain(_ reason: String) {
        let isDue = state.withLock { state in
            let now = ContinuousClock.now
            if let last = state.complaint, last.reason == reason,
                now - last.at < Self.complaintInterval
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
