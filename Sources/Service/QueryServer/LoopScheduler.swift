import Backend
import DequeModule
import JSONText
import NIOCore
import Objects
import Operations
import Runtime
import WireProtocol

/// A connection, as its event loop's scheduler sees it.
protocol ScheduledConnection: AnyObject, Sendable {
    /// Bytes it holds, as of the last look as far as unsent answers go.
    var bufferedBytes: Int { get }
    /// Waits at the scheduler for its answers to be sent.
    var isUnsent: Bool { get set }
    /// Goes on with what was put off.
    func takeTurn()
    /// Goes on with a write that waited for room.
    func takeRoom()
    /// Sends what has been handed out.
    func sendOutput()
    /// Takes the answer to a write; `goOn` follows.
    func take(_ finished: FinishedWrite)
    func goOn()
    /// Ends when it has been as it is for too long.
    func look(now: Int64)
    /// Ends, for it holds more than all others while all together hold too much.
    func evict()
}

/// What the connections of one event loop share, one after the other: their parser, the buffer in
/// which their answers are made, the answers to their writes, the order of their turns, and the
/// look at each of them from time to time. What the loops share in turn, it is given.
///
/// Used on its event loop only.
final class LoopScheduler {
    let parser: RequestParser
    let writeAnswers: WriteAnswers
    /// Empty whenever no connection is at work.
    var output = JSONWriter()
    private let room: WriteRoom
    /// Connections that have found no room for a write.
    private var paused: [any ScheduledConnection] = []

    private let limits: Limits
    private let connectionMemory: ConnectionMemory
    private let eventLoop: any EventLoop
    private let executor: LoopExecutor
    private var users: [ObjectIdentifier: any ScheduledConnection] = [:]
    private var turns: Deque<Turn> = []
    private var unsent: [any ScheduledConnection] = []
    private var unsentSince: Int64 = 0
    private var isSending = false
    private var isServingTurns = false

    init(
        limits: Limits, eventLoop: any EventLoop, executor: LoopExecutor, room: WriteRoom,
        connectionMemory: ConnectionMemory
    ) {
        self.executor = executor
        self.room = room
        self.connectionMemory = connectionMemory
        parser = RequestParser(limits: limits)
        writeAnswers = WriteAnswers(eventLoop: eventLoop, executor: executor)
        self.limits = limits
        self.eventLoop = eventLoop
    }

    func add(_ user: any ScheduledConnection) { users[ObjectIdentifier(user)] = user }

    func remove(_ user: any ScheduledConnection) { users[ObjectIdentifier(user)] = nil }

    // MARK: Turns

    /// What a connection does when its turn comes.
    private enum Turn {
        case work(any ScheduledConnection)
        case send(any ScheduledConnection)
    }

    /// Between two turns the event loop serves everybody who has no need of one.
    private static let pause = TimeAmount.microseconds(20)

    /// Has a connection that has much to do go on when all others have been served: one such at a
    /// time, so that nobody waits for more than one turn.
    func queue(_ user: any ScheduledConnection) { queue(.work(user)) }

    private func queue(_ turn: Turn) {
        turns.append(turn)
        if !isServingTurns { serveNextTurn() }
    }

    private func serveNextTurn() {
        isServingTurns = true
        eventLoop.assumeIsolated().scheduleTask(in: Self.pause) { [self] in
            switch turns.popFirst() {
            case .work(let user): user.takeTurn()
            case .send(let user): user.sendOutput()
            case nil: break
            }
            if turns.isEmpty { isServingTurns = false } else { serveNextTurn() }
        }
    }

    // MARK: Sending

    /// Answers wait for others to leave with them for this long at most; nanoseconds.
    private static let gathering: Int64 = 500_000

    /// Has a connection's answers sent when everybody who had asked has been answered, or soon: to wake
    /// clients is dear, and who gets several answers at once is woken once.
    ///
    /// - Parameter inTurn: they are long, and are sent when all others have been served.
    func send(_ user: any ScheduledConnection, inTurn: Bool) {
        guard !user.isUnsent else { return }
        user.isUnsent = true
        if inTurn { return queue(.send(user)) }
        unsent.append(user)
        let now = monotonicNanoseconds()
        if unsent.count == 1 {
            unsentSince = now
            eventLoop.assumeIsolated().execute { [self] in sendAll() }
        } else if now - unsentSince > Self.gathering, !isSending {
            sendAll()
        }
    }

    private func sendAll() {
        // Who can be sent more goes on with its requests at once, and sends again.
        isSending = true
        let users = unsent
        unsent.removeAll()
        for user in users { user.sendOutput() }
        isSending = false
    }

    // MARK: Looking after the connections

    /// Looks at every connection, again and again, until the event loop ends.
    func beginRounds() {
        let shortest = min(
            limits.handshakeMilliseconds, limits.lineMilliseconds, limits.unreadMilliseconds,
            limits.idleMilliseconds)
        goRound(every: .milliseconds(Int64(min(max(shortest / 4, 5), 100))))
    }

    private func goRound(every interval: TimeAmount) {
        eventLoop.assumeIsolated().scheduleTask(in: interval) { [self] in
            checkConnections()
            goRound(every: interval)
        }
    }

    private func checkConnections() {
        let now = monotonicNanoseconds()
        for user in users.values { user.look(now: now) }
        while true {
            var total = 0
            var most: (any ScheduledConnection)?
            for user in users.values where user.bufferedBytes > 0 {
                total += user.bufferedBytes
                if user.bufferedBytes > most?.bufferedBytes ?? 0 { most = user }
            }
            let mustEvict = connectionMemory.report(
                ConnectionMemory.Share(total: total, largest: most?.bufferedBytes ?? 0), of: self)
            guard mustEvict, let most else { return }
            most.evict()
        }
    }

    // MARK: Writes under way

    /// Whether another write may be begun; one that waits for it holds its connection up.
    var takesWrites: Bool { room.isOpen }

    func begin(_ write: Write) { room.take(write.memoryBytes) }

    func end(_ write: Write) { room.giveBack(write.memoryBytes) }

    /// Tells a connection when there is room for writes.
    func hold(_ user: any ScheduledConnection) {
        paused.append(user)
        guard paused.count == 1 else { return }
        let scheduler = NIOLoopBound(self, eventLoop: eventLoop)
        room.whenOpen { [eventLoop, executor] in
            executor.execute(on: eventLoop) { scheduler.value.release() }
        }
    }

    private func release() {
        let users = paused
        paused = []
        for user in users { user.takeRoom() }
    }
}
