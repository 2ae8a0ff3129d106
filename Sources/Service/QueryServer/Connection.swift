import DequeModule
import JSONText
import Objects

/// One connection as a state machine: events in, actions out; no sockets, no threads, no clock.
///
///     connection.receive(.received(bytes))
///     connection.receive(.readCompleted)
///     while let action = connection.next(now: nanoseconds, outputBytes: …, takesWrites: …) { … }
///
/// Reading is on demand: no more is read while requests wait, while too many are unanswered, or
/// while the client does not read its answers, so a connection's memory is bounded. What nobody
/// asked for, notices, stands between the lines of answers, and waits for room as they do.
///
/// It works in turns: after a quarter of a millisecond others have theirs first.
///
/// - Note: Nothing is allocated for an event or an action.
struct Connection {
    /// How far it has come.
    private enum Phase {
        /// It has not come about.
        case opening
        /// Nothing has been received: it may yet turn out to speak TLS.
        case silent
        case open
        /// No more is taken in, what was is answered: the client has ended its side, the service
        /// stops, or it was idle for long.
        case ending
        case closing(Closing)
        case closed
    }

    /// The way from the last answer to the end. What the client goes on to send is read and dropped:
    /// to close on unread bytes would take the answers on their way with it.
    private enum Closing {
        case saying(FinalMessage)
        /// Until everything has left.
        case sending
        case sent
        /// The own side has been closed: until the client closes its own, or not for long.
        case lingering(since: Int64)
        case atOnce
    }

    /// Whether it may do what there is to do.
    private enum Turn {
        /// There is nothing to do; the last time took long, or did not.
        case resting(wasLong: Bool)
        /// Something has happened.
        case due(wasLong: Bool)
        /// Others come first.
        case waiting
        case given
        case working(since: Int64, hasBegun: Bool)
    }

    private enum Input {
        case paused, reading
        /// The client sends no more.
        case ended
    }

    /// What it has to do before it counts as having arrived.
    private enum Arrival: Equatable {
        case unsecured, secured, arrived
    }

    private let limits: Limits
    private var conversation: Conversation
    private var timeouts: ConnectionTimeouts
    private var phase = Phase.opening
    private var turn = Turn.resting(wasLong: false)
    private var arrival: Arrival
    /// Answers from other threads that have not been put into the output.
    private var answers: Deque<FinishedAnswer> = []
    /// Bytes that had not been sent when it was last looked; nil when nothing has been handed out
    /// since all of them were.
    private var unsentBytes: Int?
    private var input = Input.paused
    /// The client takes what is handed out.
    private var isWritable = true
    /// A write waits until it is told that there is room.
    private var isPaused = false
    private var hasNotices = false

    /// - Parameters:
    ///   - isSecured: whether nothing has to be agreed on before the first line.
    ///   - now: nanoseconds of a clock that does not go back.
    init(limits: Limits, isSecured: Bool, now: Int64) {
        self.limits = limits
        conversation = Conversation(limits: limits)
        timeouts = ConnectionTimeouts(now: now)
        arrival = isSecured ? .secured : .unsecured
    }

    // MARK: How it stands

    /// Bytes it holds, as of the last look as far as answers go that have not been sent.
    var bufferedBytes: Int {
        switch phase {
        case .closing(.atOnce), .closed: 0
        default: conversation.bufferedBytes + (unsentBytes ?? 0)
        }
    }

    /// Whether something has been handed out that may not have been sent.
    var mayHaveUnsent: Bool { unsentBytes != nil }

    private var isClosing: Bool {
        switch phase {
        case .closing, .closed: true
        default: false
        }
    }

    // MARK: Events

    /// Takes what has happened; what is to be done then, `next` says.
    mutating func receive(_ event: Event) {
        switch event {
        case .activated: if case .opening = phase { phase = .silent }
        case .secured:
            if arrival == .unsecured { arrival = .secured }
            return
        case .received(let bytes): return receive(bytes)
        case .readCompleted: if input == .reading { input = .paused }
        case .found(let found): conversation.take(found)
        case .answered(let answer): answers.append(answer)
        case .noticed: hasNotices = true
        case .writability(let isWritable): self.isWritable = isWritable
        case .room: isPaused = false
        case .turn:
            turn = .given
            return
        case .inputClosed:
            input = .ended
            if case .closing(.lingering) = phase { phase = .closing(.atOnce) } else { endInput() }
        case .drained: endInput()
        case .looked(let look): guard end(after: look) else { return }
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

    /// What `Action.look` finds in the text that is next.
    func look(
        line: (UnsafeBufferPointer<UInt8>?) -> ParsedText,
        element: (UnsafeBufferPointer<UInt8>) -> ParsedText
    ) -> ParsedText {
        conversation.look(line: line, element: element)
    }

    /// Appends the answer to what is under way, as `Conversation` does.
    mutating func answer(
        _ id: String?, into output: inout JSONWriter, _ body: (inout JSONWriter) -> Void
    ) {
        conversation.answer(id, into: &output, body)
    }

    // MARK: Actions

    /// The next thing to do, which is to be done before the next is asked for. Nil: nothing, until
    /// something happens.
    ///
    /// - Parameters:
    ///   - outputBytes: bytes of answers that have not been handed out.
    ///   - takesWrites: whether there is room for a write.
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
        if let action = begin(takesWrites) {
            if !action.isLook { turn = .working(since: since, hasBegun: true) }
            return action
        }
        if outputBytes > 0 { return flush() }
        if let action = settle(now) { return action }
        turn = .resting(wasLong: isOver)
        return nil
    }

    private mutating func nextAnswer() -> FinishedAnswer? {
        guard let answer = answers.popFirst() else { return nil }
        // Of many answers the memory is not kept.
        if answers.isEmpty { answers = [] }
        return answer
    }

    private mutating func flush() -> Action {
        if unsentBytes == nil { unsentBytes = 0 }
        return .flush
    }

    /// Begins something; nil when there is nothing that can be begun.
    private mutating func begin(_ takesWrites: Bool) -> Action? {
        guard isWritable, !isClosing else { return nil }
        if hasNotices, conversation.isBetweenLines {
            hasNotices = false
            return .notice
        }
        switch conversation.next(takesWrites: takesWrites) {
        case .look: return .look
        case .examine(let text): return .examine(text)
        case .read(let request): return .run(request)
        case .write(let request): return .submit(request)
        case nil:
            guard !takesWrites, !isPaused, conversation.hasWaitingWrite else { return nil }
            isPaused = true
            return .awaitRoom
        }
    }

    /// Reads on, or goes on with the end, when nothing else is left to do.
    private mutating func settle(_ now: Int64) -> Action? {
        switch phase {
        case .opening, .closing(.atOnce), .closed: return nil
        case .silent, .open: return isWritable && conversation.takesLines ? read() : nil
        case .ending:
            guard isWritable, conversation.isDone else { return nil }
            // Behind what has been written: the client gets all its answers.
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

    private mutating func read() -> Action? {
        guard input == .paused else { return nil }
        input = .reading
        return .read
    }

    // MARK: The end

    /// Takes no more in.
    private mutating func endInput() {
        switch phase {
        case .opening, .silent, .open: phase = .ending
        case .ending, .closing, .closed: break
        }
    }

    /// Ends, and says why where nothing else is on its way that it would stand in.
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

    /// - Returns: whether it has been as it is for too long.
    private mutating func end(after look: Look) -> Bool {
        unsentBytes = look.unsentBytes > 0 ? look.unsentBytes : nil
        if arrival == .secured, look.isWelcome { arrival = .arrived }
        if case .closing(.lingering(let since)) = phase, look.now - since > Self.linger {
            closeAtOnce()
            return true
        }
        let how = ConnectionTimeouts.Look(
            hasArrived: arrival == .arrived, lines: conversation.linesTaken,
            isWithinLine: conversation.isWithinLine, isAtWork: !conversation.isDone,
            unsentBytes: look.unsentBytes)
        switch timeouts.end(of: how, now: look.now, limits) {
        case nil: return false
        case .idle: endInput()
        case .unendingLine: end(saying: .lineTooSlow)
        case .noHandshake, .unread: closeAtOnce()
        }
        return true
    }

    // MARK: Bounds

    /// Works for this long without letting others have their turn; nanoseconds. Many may have
    /// something to do in one round of the event loop, so it is little.
    static let turnTime: Int64 = 250_000

    /// Bytes that are not taken in but in turn.
    static let longInput = 128 * 1_024

    /// How long it waits for a client to close after its last answer; nanoseconds.
    static let linger: Int64 = 500_000_000
}
