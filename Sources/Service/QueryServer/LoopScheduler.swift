import BackendContract
import DequeModule
import JSONText
import NIOCore
import Objects
import Runtime
import ServiceDesk

/// A connection, as its event loop's scheduler sees it.
protocol ScheduledConnection: AnyObject, Sendable {
    /// Bytes of memory in use; unsent answers count as of the last check.
    var bufferedBytes: Int { get }
    /// Whether its answers are queued for sending.
    var isUnsent: Bool { get set }
    /// Continues work that was postponed.
    func takeTurn()
    /// Starts the write that waited for room.
    func takeRoom()
    /// Since when its notifications have waited for an answer; nil if none do.
    var heldSince: Int64? { get }
    /// Sends the notifications that wait for an answer.
    func takeNotifications()
    /// Flushes the output.
    func sendOutput()
    /// Answers a read that waits in the gate, in case it may turn out to have seen the latest.
    func readEarly(_ request: ServiceRequest, since begin: Int64)
    /// Takes the answer to a write; `goOn` follows.
    func take(_ finished: FinishedAnswer)
    func goOn()
    /// Ends the connection if one of its timeouts has expired.
    ///
    /// - Returns: whether it is idle: it keeps no request and no answer in memory, and until it calls
    ///   `ConnectionRounds.wake`, no other timeout can expire than that of idle connections.
    func check(now: Int64) -> Bool
    /// Whether it was idle at the last check; noted by `ConnectionRounds`.
    var isIdle: Bool { get set }
    /// Ends the connection because it uses the most memory and all together use too much.
    func evict()
}

extension ScheduledConnection {
    var heldSince: Int64? { nil }

    /// It is never idle.
    var isIdle: Bool {
        get { false }
        set {}
    }

    func takeNotifications() {}

    func readEarly(_ request: ServiceRequest, since begin: Int64) {}
}

/// What the connections of one event loop share: the parser, the output buffer, the answers to
/// their writes, the reads that wait for the backend, the queue of turns, and the periodic checks.
/// What all loops share is passed to `init`.
///
/// Used on its event loop only.
final class LoopScheduler {
    let parser: RequestParser
    let finishedAnswers: FinishedAnswers
    /// The connections to other nodes; nil if this node has every bucket.
    let links: NodeLinks?
    let gate: ReadGate
    let rounds: ConnectionRounds
    /// Empty unless a connection is working.
    var output = JSONWriter()
    private let room: WriteRoom
    /// Connections with a write that waits for room.
    private var paused: Deque<any ScheduledConnection> = []
    /// The connection that goes on now and has not written yet.
    private var released: (any ScheduledConnection)?
    /// Whether `release` is to come or runs.
    private var willRelease = false

    let clock: ServiceClock
    private let eventLoop: any EventLoop
    let executor: LoopExecutor
    private let turns: LoopTurns
    private var unsent: [any ScheduledConnection] = []
    /// Those whose output is being flushed. The two arrays take turns, and keep their memory.
    private var sending: [any ScheduledConnection] = []
    private var unsentSince: Int64 = 0
    private var isSending = false
    /// Connections whose notifications wait for an answer, or have waited, the longest first.
    private var held: Deque<(user: any ScheduledConnection, since: Int64)> = []

    init(
        service: QueryService, eventLoop: any EventLoop, executor: LoopExecutor, room: WriteRoom,
        connectionMemory: ConnectionMemory, links: NodeLinks? = nil
    ) {
        clock = service.clock
        self.links = links
        self.executor = executor
        self.room = room
        rounds = ConnectionRounds(
            service.limits, clock, connectionMemory, links: links, on: eventLoop)
        parser = RequestParser(limits: service.limits)
        turns = LoopTurns(on: eventLoop)
        finishedAnswers = FinishedAnswers(
            eventLoop: eventLoop, executor: executor, turns: turns)
        gate = ReadGate(service, eventLoop, finishedAnswers)
        self.eventLoop = eventLoop
    }

    // MARK: Turns

    /// Lets a connection with much work continue after all others have been served.
    func queue(_ user: any ScheduledConnection) { turns.append { user.takeTurn() } }

    // MARK: Sending

    /// The longest time, in nanoseconds, that answers wait to be sent together with others.
    private static let gathering: Int64 = 500_000

    /// Sends a connection's answers when all pending requests have been answered, or after
    /// `gathering` at the latest. Waking a client is costly, and a client that gets several answers
    /// at once wakes only once.
    ///
    /// - Parameters:
    ///   - inTurn: whether the answers are long and are sent after all others have been served.
    ///   - now: the present time in nanoseconds, which the caller has just read.
    func send(_ user: any ScheduledConnection, inTurn: Bool, now: Int64) {
        guard !user.isUnsent else { return }
        user.isUnsent = true
        if inTurn { return turns.append { user.sendOutput() } }
        unsent.append(user)
        if unsent.count == 1 {
            unsentSince = now
            eventLoop.assumeIsolated().execute { [self] in sendAll() }
        } else if now - unsentSince > Self.gathering, !isSending {
            sendAll()
        }
    }

    private func sendAll() {
        // A connection whose channel takes more output continues at once, and calls `send` again.
        isSending = true
        swap(&unsent, &sending)
        for user in sending { user.sendOutput() }
        sending.removeAll(keepingCapacity: true)
        isSending = false
    }

    // MARK: Notifications

    /// The longest time, in nanoseconds, that notifications wait for an answer to be sent with.
    private static let holding: Int64 = 10_000_000

    /// Sends a connection's notifications after `holding` unless an answer takes them along.
    func hold(_ user: any ScheduledConnection, since: Int64) {
        held.append((user, since))
        if held.count == 1 { releaseHeld(at: since + Self.holding) }
    }

    private func releaseHeld(at time: Int64) {
        let wait = TimeAmount.nanoseconds(max(time - clock.nanoseconds(), 0))
        eventLoop.assumeIsolated().scheduleTask(in: wait) { [self] in
            let end = clock.nanoseconds() - Self.holding
            while let (user, since) = held.first, since <= end || user.heldSince != since {
                if user.heldSince == since { user.takeNotifications() }
                held.removeFirst()
            }
            if let next = held.first { releaseHeld(at: next.since + Self.holding) }
        }
    }

    // MARK: Writes in progress

    /// Whether a connection may start another write; otherwise it is to call `pause`. Nobody passes
    /// those that wait.
    func takesWrites(of user: any ScheduledConnection) -> Bool {
        room.isOpen && (paused.isEmpty || released === user)
    }

    /// Notes that a connection starts a write.
    func begin(bytes: Int, of user: any ScheduledConnection) {
        if released === user { released = nil }
        room.take(bytes)
    }

    func end(_ write: Write) { room.giveBack(write.memoryBytes) }

    /// Queues a connection until there is room for its next write.
    func pause(_ user: any ScheduledConnection) {
        paused.append(user)
        awaitRoom()
    }

    private func awaitRoom() {
        guard !willRelease, !paused.isEmpty else { return }
        willRelease = true
        let scheduler = NIOLoopBound(self, eventLoop: eventLoop)
        room.whenOpen { [eventLoop, executor] in
            executor.execute(on: eventLoop) { scheduler.value.releaseInTurn() }
        }
    }

    private func releaseInTurn() { turns.appendUrgent { [self] in release() } }

    /// Lets connections go on as long as there is room, those that have waited the longest first.
    /// Each has one write before the others.
    private func release() {
        let end = clock.nanoseconds() + Connection.turnTime
        while room.isOpen, let user = paused.popFirst() {
            released = user
            user.takeRoom()
            released = nil
            if clock.nanoseconds() > end { return releaseInTurn() }
        }
        willRelease = false
        awaitRoom()
    }
}
