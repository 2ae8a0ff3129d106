import DequeModule
import JSONText
import Objects
import ServiceDesk

/// One connection as a state machine: events in, actions out; no sockets, no threads, no clock.
///
///     connection.receive(.received(bytes))
///     connection.receive(.readCompleted)
///     while let action = connection.next(now: nanoseconds, outputBytes: …, takesWrites: …) { … }
///
/// The connection reads on demand. It does not read while requests wait, while too many are
/// unanswered, or while the client does not read its answers. This back-pressure bounds its memory.
/// Notifications are sent between the lines of answers, in turn with requests, and are fetched only
/// when there is room for them. While a write is in progress they wait for its answer, though not for
/// long.
///
/// It works in turns: after half a millisecond it yields to other connections.
///
/// - Note: Events and actions of a request that its event loop answers allocate nothing.
struct Connection {
    private let limits: Limits
    private var conversation: Conversation
    private var timeouts: ConnectionTimeouts
    private var phase = Phase.opening
    private var turn = Turn.resting(wasLong: false)
    private var arrival: Arrival
    /// Results of other threads that are not in the output yet.
    private var answers: Deque<FinishedAnswer> = []
    /// Unsent bytes at the last check; nil when all output has been sent.
    private var unsentBytes: Int?
    private var input = Input.paused
    /// Whether the channel takes more output.
    private var isWritable = true
    /// A write waits until the queue has room.
    private var isPaused = false
    /// Whether a notification may wait.
    private var mayNotify = false
    /// Whether the last thing that was begun is a notification: requests come next.
    private var hasNotified = false
    /// Since when notifications have waited for the answer to a write; nil if none do.
    private(set) var heldSince: Int64?
    /// Whether they have waited long enough.
    private var isOverdue = false
    /// An answer that follows what has been notified.
    private var waitedFor: FinishedAnswer?
    /// How many of the received bytes had arrived when the backend was last asked whether a read
    /// may begin, and agreed.
    private var admittedBytes = 0

    /// - Parameters:
    ///   - isSecured: whether no TLS handshake has to precede the first line.
    ///   - now: nanoseconds of the monotonic clock.
    init(limits: Limits, isSecured: Bool, now: Int64) {
        self.limits = limits
        conversation = Conversation(limits: limits)
        timeouts = ConnectionTimeouts(now: now)
        arrival = isSecured ? .secured : .unsecured
    }

    // MARK: State

    /// Bytes of memory in use; unsent answers count as of the last check.
    var bufferedBytes: Int {
        switch phase {
        case .closing(.atOnce), .closed: 0
        default: conversation.bufferedBytes + (unsentBytes ?? 0)
        }
    }

    /// Whether nothing is under way, so that no other timeout than that of idle connections can expire
    /// before the next event.
    var isIdle: Bool {
        switch phase {
        case .silent, .open:
            arrival == .arrived && conversation.isDone && !conversation.isWithinLine
                && bufferedBytes == 0 && !mayHaveUnsent
        case .opening, .ending, .closing, .closed: false
        }
    }

    /// Whether some output may not have been sent.
    var mayHaveUnsent: Bool { unsentBytes != nil }

    /// Bytes received in total.
    var receivedBytes: Int { conversation.receivedBytes }

    /// Whether a whole line has come.
    var hasAsked: Bool { conversation.linesTaken > 0 }

    /// Whether the read under way had arrived before the backend agreed to an earlier one. What was
    /// answered before it was sent is then visible.
    var mayReadAtOnce: Bool { conversation.takenBytes <= admittedBytes }

    private var isClosing: Bool {
        switch phase {
        case .closing, .closed: true
        default: false
        }
    }

    // MARK: Events

    /// Records an event; `next` then returns what to do.
    mutating func receive(_ event: Event) {
        switch event {
        case .activated: if case .opening = phase { phase = .silent }
        case .secured:
            if arrival == .unsecured { arrival = .secured }
            return
        case .foreign:
            conversation.endAfterThisLine()
            return
        case .received(let bytes): return receive(bytes)
        case .readCompleted: if input == .reading { input = .paused }
        case .found(let found):
            conversation.take(found)
            if conversation.isOver { endInput() }
        case .answered(let answer): take(answer)
        case .notified: notify()
        case .overdue: isOverdue = heldSince != nil
        case .writability(let isWritable): self.isWritable = isWritable
        case .room:
            isPaused = false
            turn = .given
        case .turn:
            turn = .given
            return
        case .inputClosed:
            input = .ended
            if case .closing(.lingering) = phase { phase = .closing(.atOnce) } else { endInput() }
        case .drained:
            mayNotify = true  // of the end of its watches
            endInput()
        case .checked(let check): guard end(after: check) else { return }
        case .evict: end(saying: .memoryExceeded)
        case .sent: if case .closing(.sending) = phase { phase = .closing(.sent) }
        case .ended: phase = .closed
        }
        if case .resting(let wasLong) = turn { turn = .due(wasLong: wasLong) }
    }

    private mutating func receive(_ bytes: UnsafeRawBufferPointer) {
        if isClosing { return }
        if case .silent = phase {
            guard !TLSRecord.beginsHandshake(bytes) else { return close(saying: .refusalOfTLS) }
            phase = .open
        }
        conversation.append(bytes)
    }

    private mutating func take(_ answer: FinishedAnswer) {
        switch answer {
        case .waitedFor: waitedFor = answer
        case .notified: notify()
        case .mayRead(_, let failure, _, let bytes):
            if failure == nil { admittedBytes = max(admittedBytes, bytes) }
            answers.append(answer)
        case .write, .arrived, .read: answers.append(answer)
        case .forOtherNode: preconditionFailure("a client's connection has none")
        }
    }

    private mutating func notify() {
        mayNotify = true
        conversation.keepsBatches = true
    }

    /// Parses the next text, for `Action.parse`. Mutating, so that no copy of the connection is made for
    /// the time that the closures run.
    mutating func parse(
        line: (UnsafeBufferPointer<UInt8>?) -> ParsedText,
        element: (UnsafeBufferPointer<UInt8>) -> ParsedText
    ) -> ParsedText {
        conversation.parse(line: line, element: element)
    }

    /// Whether a notification may stand here, before the answer to the current request.
    var isBetweenLines: Bool { conversation.isBetweenLines }

    /// Appends the answer to the current request, as `Conversation` does.
    mutating func answer(
        _ id: String?, into output: inout JSONWriter, _ body: (inout JSONWriter) -> Void
    ) {
        conversation.answer(id, into: &output, body)
    }

    // MARK: Actions

    /// The next action, which must be carried out before the next call; nil until another event
    /// arrives.
    ///
    /// - Parameters:
    ///   - outputBytes: bytes of answers that have not been written to the channel.
    ///   - takesWrites: whether the write queue has room.
    mutating func next(now: Int64, outputBytes: Int, takesWrites: Bool) -> Action? {
        switch phase {
        case .closed: return nil
        case .closing(.atOnce):
            phase = .closed
            return .close
        default: break
        }
        switch turn {
        case .resting, .waiting: return nil
        case .due(let wasLong):
            guard !wasLong, conversation.bufferedBytes <= Self.longInput else { return awaitTurn() }
            turn = .working(since: now, hasBegun: false)
        case .given: turn = .working(since: now, hasBegun: false)
        case .working: break
        }
        return work(now, outputBytes, takesWrites)
    }

    private mutating func awaitTurn() -> Action {
        turn = .waiting
        return .awaitTurn
    }

    private mutating func work(_ now: Int64, _ outputBytes: Int, _ takesWrites: Bool) -> Action? {
        guard case .working(let since, let hasBegun) = turn else { return nil }
        if let answer = nextAnswer() { return .answer(answer) }
        let isOver = now - since > Self.turnTime
        if outputBytes > limits.outputBytes / 2 || isOver && hasBegun && outputBytes > 0 {
            return flush()
        }
        if isOver, hasBegun { return awaitTurn() }
        if let action = begin(now, hasOutput: outputBytes > 0, takesWrites) {
            if !action.isParsing { turn = .working(since: since, hasBegun: true) }
            return action
        }
        if outputBytes > 0 { return flush() }
        if let action = settle(now) { return action }
        turn = .resting(wasLong: isOver)
        return nil
    }

    private mutating func nextAnswer() -> FinishedAnswer? {
        guard let answer = answers.popFirst() else { return nil }
        // Frees the memory of a long queue.
        if answers.isEmpty { answers = [] }
        return answer
    }

    private mutating func flush() -> Action {
        if unsentBytes == nil { unsentBytes = 0 }
        return .flush
    }

    /// Starts the next piece of work; nil when nothing can start now.
    private mutating func begin(
        _ now: Int64, hasOutput: Bool, _ takesWrites: Bool
    ) -> Action? {
        guard isWritable, !isClosing else { return nil }
        if !hasNotified, let action = notification(now, hasOutput) { return action }
        hasNotified = false
        return request(takesWrites) ?? notification(now, hasOutput)
    }

    private mutating func notification(_ now: Int64, _ hasOutput: Bool) -> Action? {
        guard mayNotify, conversation.isBetweenLines else { return nil }
        // A client that has closed its side gets its answers, and what belongs before them.
        if input == .ended, conversation.isDone { return nil }
        if conversation.isWriting, !hasOutput, !isOverdue { return hold(now) }
        heldSince = nil
        isOverdue = false
        mayNotify = false
        hasNotified = true
        return .notify
    }

    /// Lets notifications wait for the answer to a write, because sending and receiving both together
    /// costs little more than one of them.
    private mutating func hold(_ now: Int64) -> Action? {
        guard heldSince == nil else { return nil }
        heldSince = now
        return .hold
    }

    private mutating func request(_ takesWrites: Bool) -> Action? {
        if let waitedFor {
            self.waitedFor = nil
            return .answer(waitedFor)
        }
        switch conversation.next(takesWrites: takesWrites) {
        case .parse: return .parse
        case .parseOnWorker(let text): return .parseOnWorker(text)
        case .run(let request): return .run(request)
        case nil: break
        }
        if !takesWrites, !isPaused, conversation.hasWaitingWrite {
            isPaused = true
            return .awaitRoom
        }
        // Notifications, however many, do not keep the client from speaking.
        return mayNotify ? listen() : nil
    }

    /// Reads more, or continues to close, when nothing else is left to do.
    private mutating func settle(_ now: Int64) -> Action? {
        switch phase {
        case .opening, .closing(.atOnce), .closed: return nil
        case .silent, .open: return listen()
        case .ending:
            guard isWritable, conversation.isDone else { return nil }
            // The final message follows all answers, so the client gets every one of them.
            close(saying: .nothing)
            return settle(now)
        case .closing(.saying(let words)):
            phase = .closing(.sending)
            return .finish(words)
        case .closing(.sending): return read()
        case .closing(.sent):
            phase = input == .ended ? .closed : .closing(.lingering(since: now))
            return input == .ended ? .close : .endOutput
        case .closing(.lingering): return read()
        }
    }

    /// Reads what the client has to say, if it may say more.
    private mutating func listen() -> Action? {
        switch phase {
        case .silent, .open:
            isWritable && (conversation.takesLines || conversation.takesBytes) ? read() : nil
        default: nil
        }
    }

    private mutating func read() -> Action? {
        guard input == .paused else { return nil }
        input = .reading
        return .read
    }

    // MARK: Closing

    /// Stops accepting input.
    private mutating func endInput() {
        switch phase {
        case .opening, .silent, .open: phase = .ending
        case .ending, .closing, .closed: break
        }
    }

    /// Ends the connection, with a reason if no other output is pending that the reason would
    /// interrupt.
    private mutating func end(saying words: FinalMessage) {
        guard !isClosing, conversation.isDone, unsentBytes ?? 0 == 0 else { return closeAtOnce() }
        close(saying: words)
    }

    private mutating func close(saying words: FinalMessage) {
        phase = .closing(.saying(words))
        conversation = Conversation(limits: limits)
    }

    private mutating func closeAtOnce() {
        if case .closed = phase { return }
        phase = .closing(.atOnce)
    }

    /// - Returns: whether a timeout ends the connection.
    private mutating func end(after check: Check) -> Bool {
        unsentBytes = check.unsentBytes > 0 ? check.unsentBytes : nil
        if arrival == .secured, check.isWelcome { arrival = .arrived }
        if case .closing(.lingering(let since)) = phase, check.now - since > Self.linger {
            closeAtOnce()
            return true
        }
        let how = ConnectionTimeouts.Check(
            hasArrived: arrival == .arrived, lines: conversation.linesTaken,
            isWithinLine: conversation.isWithinLine, isAtWork: !conversation.isDone,
            isWatching: check.isWatching, unsentBytes: check.unsentBytes)
        switch timeouts.end(of: how, now: check.now, limits) {
        case nil: return false
        case .idle: endInput()
        case .unendingLine: end(saying: .lineTooSlow)
        case .noHandshake, .unread: closeAtOnce()
        }
        return true
    }

    // MARK: Limits

    /// The length of a turn, in nanoseconds. It is short because many connections may have work in
    /// one iteration of the event loop.
    static let turnTime: Int64 = 500_000

    /// Larger input than this, in bytes, is processed in turns.
    static let longInput = 128 * 1_024

    /// How long the connection waits for the client to close after the last answer; nanoseconds.
    static let linger: Int64 = 500_000_000
}
