import Backend
import DequeModule
import JSONText
import NIOCore
import Objects
import Operations
import Synchronization
import WireProtocol

/// What the connections of one event loop share, one after the other: their parser, the buffer in
/// which their answers are made, the answers to their writes, the order of their turns, and the
/// look at each of them from time to time. What the loops share in turn, it is given.
///
/// Used on its event loop only.
final class LoopDesk {
    let parser: RequestParser
    let writeAnswers: WriteAnswers
    /// Empty whenever no session is at work.
    var output = JSONWriter()
    private let room: WriteRoom
    /// Sessions that have found no room for a write.
    private var held: [SessionHandler] = []

    private let limits: Limits
    private let holdings: Holdings
    private let eventLoop: any EventLoop
    private let door: LoopDoor
    private var sessions: [ObjectIdentifier: SessionHandler] = [:]
    private var turns: Deque<Turn> = []
    private var unsent: [SessionHandler] = []
    private var unsentSince: Int64 = 0
    private var isSending = false
    private var isServingTurns = false

    init(
        limits: Limits, eventLoop: any EventLoop, door: LoopDoor, room: WriteRoom,
        holdings: Holdings
    ) {
        self.door = door
        self.room = room
        self.holdings = holdings
        parser = RequestParser(limits: limits)
        writeAnswers = WriteAnswers(eventLoop: eventLoop, door: door)
        self.limits = limits
        self.eventLoop = eventLoop
    }

    func add(_ session: SessionHandler) { sessions[ObjectIdentifier(session)] = session }

    func remove(_ session: SessionHandler) { sessions[ObjectIdentifier(session)] = nil }

    // MARK: Turns

    /// What a session does when its turn comes.
    private enum Turn {
        case work(SessionHandler)
        case send(SessionHandler)
    }

    /// Between two turns the event loop serves everybody who has no need of one.
    private static let pause = TimeAmount.microseconds(20)

    /// Has a session that has much to do go on when all others have been served: one such session at
    /// a time, so that nobody waits for more than one turn.
    func queue(_ session: SessionHandler) { queue(.work(session)) }

    private func queue(_ turn: Turn) {
        turns.append(turn)
        if !isServingTurns { serveNextTurn() }
    }

    private func serveNextTurn() {
        isServingTurns = true
        eventLoop.assumeIsolated().scheduleTask(in: Self.pause) { [self] in
            switch turns.popFirst() {
            case .work(let session): session.takeTurn()
            case .send(let session): session.sendOutput()
            case nil: break
            }
            if turns.isEmpty { isServingTurns = false } else { serveNextTurn() }
        }
    }

    // MARK: Sending

    /// Answers wait for others to leave with them for this long at most; nanoseconds.
    private static let gathering: Int64 = 500_000

    /// Has a session's answers sent when everybody who had asked has been answered, or soon: to wake
    /// clients is dear, and who gets several answers at once is woken once.
    ///
    /// - Parameter inTurn: they are long, and are sent when all others have been served.
    func send(_ session: SessionHandler, inTurn: Bool) {
        guard !session.isUnsent else { return }
        session.isUnsent = true
        if inTurn { return queue(.send(session)) }
        unsent.append(session)
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
        let sessions = unsent
        unsent.removeAll()
        for session in sessions { session.sendOutput() }
        isSending = false
    }

    // MARK: Looking after the sessions

    /// Looks at every session, again and again, until the event loop ends.
    func beginRounds() {
        let shortest = min(
            limits.handshakeMilliseconds, limits.lineMilliseconds, limits.unreadMilliseconds,
            limits.idleMilliseconds)
        goRound(every: .milliseconds(Int64(min(max(shortest / 4, 5), 100))))
    }

    private func goRound(every interval: TimeAmount) {
        eventLoop.assumeIsolated().scheduleTask(in: interval) { [self] in
            lookAround()
            goRound(every: interval)
        }
    }

    private func lookAround() {
        let now = monotonicNanoseconds()
        for session in sessions.values { session.look(now: now) }
        while true {
            var total = 0
            var most: SessionHandler?
            for session in sessions.values where session.heldBytes > 0 {
                total += session.heldBytes
                if session.heldBytes > most?.heldBytes ?? 0 { most = session }
            }
            let hasToShed = holdings.report(
                Holdings.Share(total: total, largest: most?.heldBytes ?? 0), of: self)
            guard hasToShed, let most else { return }
            most.shed()
        }
    }

    // MARK: Writes under way

    /// Whether another write may be begun; one that waits for it holds its connection up.
    var takesWrites: Bool { room.isOpen }

    func begin(_ write: Write) { room.take(write.memoryBytes) }

    func end(_ write: Write) { room.giveBack(write.memoryBytes) }

    /// Has a session run again when there is room for writes.
    func hold(_ session: SessionHandler) {
        held.append(session)
        guard held.count == 1 else { return }
        let desk = NIOLoopBound(self, eventLoop: eventLoop)
        room.whenOpen { [eventLoop, door] in
            door.execute(on: eventLoop) { desk.value.release() }
        }
    }

    private func release() {
        let sessions = held
        held = []
        for session in sessions { session.resume() }
    }
}

/// Answers to writes on their way from the backend's thread to an event loop: those that wait
/// together cross together.
final class WriteAnswers: Sendable {
    struct Delivery: Sendable {
        let session: SessionHandler
        let answer: FinishedWrite
    }

    private let eventLoop: any EventLoop
    private let door: LoopDoor
    private let waiting = Mutex<[Delivery]>([])

    init(eventLoop: any EventLoop, door: LoopDoor) {
        self.eventLoop = eventLoop
        self.door = door
    }

    func put(_ delivery: Delivery) {
        let isFirst = waiting.withLock { waiting in
            defer { waiting.append(delivery) }
            return waiting.isEmpty
        }
        if isFirst { door.execute(on: eventLoop) { self.deliver() } }
    }

    private func deliver() {
        let deliveries = waiting.withLock { waiting in
            defer { waiting = [] }
            return waiting
        }
        for delivery in deliveries { delivery.session.receive(delivery.answer) }
        for delivery in deliveries { delivery.session.run() }
    }
}

/// A write that is durable and visible, or refused.
struct FinishedWrite: Sendable {
    let request: Request
    let write: Write
    let result: Result<WriteAnswer, ServiceFailure>
    /// When its turn came, by the monotonic clock.
    let begin: Int64
}
