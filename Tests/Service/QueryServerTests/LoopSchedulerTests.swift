import NIOEmbedded
import Objects
import Runtime
import ServiceDesk
import TestSupport
import Testing

@testable import QueryServer

/// What reaches many connections of an event loop at the same moment.
@Suite struct LoopSchedulerTests {
    private let loop = EmbeddedEventLoop()

    @Test func `Many answers come in order, and other connections are served in between`() {
        let answers = FinishedAnswers(
            eventLoop: loop, executor: LoopExecutor(), turns: LoopTurns(on: loop))
        let log = Log()
        let users = (0..<5).map { _ in NotingUser(log) }
        func put(_ number: Int) {
            answers.put(.read(id: "\(number)", answer: []), for: users[number % 5])
        }
        for number in 0..<50 { put(number) }
        loop.run()
        #expect(log.ids.count == 50)
        for number in 50..<700 { put(number) }
        loop.run()
        #expect(log.ids.count == FinishedAnswers.most)
        put(700)
        loop.run()
        #expect(log.ids.count == FinishedAnswers.most)
        loop.advanceTime(by: .microseconds(20))
        #expect(log.ids.count == 2 * FinishedAnswers.most)
        loop.advanceTime(by: .milliseconds(1))
        #expect(log.ids == (0...700).map { "\($0)" })
        put(701)
        loop.run()
        #expect(log.ids.last == "701")
    }

    @Test func `Turns come one at a time, and much that many wait for in every second`() {
        let turns = LoopTurns(on: loop)
        let answers = FinishedAnswers(eventLoop: loop, executor: LoopExecutor(), turns: turns)
        let log = Log()
        let user = NotingUser(log)
        for _ in 0..<4 * FinishedAnswers.most {
            answers.put(.read(id: "answer", answer: []), for: user)
        }
        for _ in 0..<5 { turns.append { log.ids.append("turn") } }
        let all = FinishedAnswers.most
        var (seen, pieces): (Int, [String]) = (0, [])
        loop.run()
        for _ in 0..<20 {
            let piece = log.ids[seen...]
            seen = log.ids.count
            if let kind = piece.first {
                #expect(Set(piece).count == 1 && piece.count == (kind == "turn" ? 1 : all))
                pieces.append(kind)
            }
            loop.advanceTime(by: .microseconds(19))
            #expect(log.ids.count == seen)
            loop.advanceTime(by: .microseconds(1))
        }
        let first = ["answer", "answer", "turn", "answer", "turn", "answer", "turn"]
        #expect(pieces == first + ["turn", "turn"])
    }

    @Test func `Ordinary turns come though urgent ones never end, and these in their order`() {
        let turns = LoopTurns(on: loop)
        var log: [String] = []
        func urge(_ name: String) {
            turns.appendUrgent {
                log.append(name)
                urge(name)
            }
        }
        urge("a")
        for number in 0..<4 { turns.append { log.append("\(number)") } }
        urge("b")
        for _ in 0..<10 { settle() }
        #expect(log == ["a", "0", "b", "1", "a", "2", "b", "3", "a", "b"])
    }

    // MARK: Room for writes

    /// Runs what is due and the next turn.
    private func settle() { loop.advanceTime(by: .microseconds(20)) }

    private func scheduler(_ room: WriteRoom, _ clock: ServiceClock = ServiceClock())
        -> LoopScheduler
    {
        let service = QueryService(
            backend: EndlessBackend(), limits: Limits(), clock: clock)
        return LoopScheduler(
            service: service, eventLoop: loop, executor: LoopExecutor(), room: room,
            connectionMemory: ConnectionMemory(limit: 1_000))
    }

    @Test func `Only as many writes go on as there is room for, in their order`() {
        let room = WriteRoom(bytes: 10)
        let scheduler = scheduler(room)
        room.take(10)
        let users = (0..<100).map { _ in WritingUser(scheduler, room, writes: 1) }
        for user in users { user.write() }
        settle()
        #expect(users.allSatisfy { $0.written == 0 })
        for count in 1...100 {
            room.giveBack(10)
            settle()
            #expect(users.map(\.written) == (0..<100).map { $0 < count ? 1 : 0 })
        }
        // Who comes later waits again.
        users[0].left = 1
        users[0].write()
        settle()
        #expect(users[0].written == 1)
        room.giveBack(10)
        settle()
        #expect(users[0].written == 2)
    }

    @Test func `Connections with many writes take turns, and none passes those that wait`() {
        let room = WriteRoom(bytes: 30)
        let scheduler = scheduler(room)
        let users = (0..<7).map { _ in WritingUser(scheduler, room, writes: 50) }
        let newcomer = StillConnection()
        for user in users { user.write() }
        // The first had the room for itself.
        #expect(users.map(\.written) == [3, 0, 0, 0, 0, 0, 0])
        for _ in 0..<49 {
            room.giveBack(10)
            #expect(room.isOpen && !scheduler.takesWrites(of: newcomer))
            settle()
        }
        #expect(users.map(\.written) == [10, 7, 7, 7, 7, 7, 7])
    }

    @Test func `One that ended while it waited leaves the room to the others`() {
        let room = WriteRoom(bytes: 10)
        let scheduler = scheduler(room)
        room.take(10)
        let users = (0..<3).map { _ in WritingUser(scheduler, room, writes: 2) }
        for user in users { user.write() }
        users[0].left = 0
        room.giveBack(10)
        settle()
        #expect(users.map(\.written) == [0, 1, 0])
        room.giveBack(10)
        #expect(room.isOpen && !scheduler.takesWrites(of: users[0]))
        settle()
        #expect(users.map(\.written) == [0, 1, 1])
    }

    @Test func `Many that go on do so in pieces, and other turns come between`() {
        let (room, time) = (WriteRoom(bytes: 10), TestClock(0))
        let scheduler = scheduler(room, ServiceClock(nanoseconds: { time.now }))
        room.take(10)
        let users = (0..<100).map { _ in
            WritingUser(scheduler, room, writes: 1, bytes: 0) { time.advance(100_000) }
        }
        for user in users { user.write() }
        let other = StillConnection()
        room.giveBack(10)
        var (seen, pieces): (Int, [Int]) = (0, [])
        settle()
        scheduler.queue(other)
        repeat {
            let count = users.count { $0.written > 0 }
            pieces.append(count - seen)
            seen = count
            loop.advanceTime(by: .microseconds(20))
        } while users.contains { $0.written == 0 }
        // Half a millisecond each, and the turn of the other.
        #expect(pieces.first == 6 && pieces.allSatisfy { $0 <= 6 } && pieces.count { $0 == 0 } == 1)
        #expect(users.allSatisfy { $0.written == 1 })
    }
}

/// `@unchecked Sendable`: the test uses it on one thread.
private final class Log: @unchecked Sendable {
    var ids: [String] = []
}

/// A connection that notes its answers.
private final class NotingUser: StillConnection, @unchecked Sendable {
    private let log: Log

    init(_ log: Log) { self.log = log }

    override func take(_ finished: FinishedAnswer) {
        if case .read(let id?, _) = finished { log.ids.append(id) }
    }
}

/// A connection with writes that need room.
private final class WritingUser: StillConnection, @unchecked Sendable {
    private let scheduler: LoopScheduler
    private let room: WriteRoom
    private let bytes: Int
    private let onWrite: () -> Void
    private var isPaused = false
    private(set) var written = 0
    /// The writes that are still to come.
    var left: Int

    init(
        _ scheduler: LoopScheduler, _ room: WriteRoom, writes: Int, bytes: Int = 10,
        onWrite: @escaping () -> Void = {}
    ) {
        (self.scheduler, self.room, self.bytes) = (scheduler, room, bytes)
        (left, self.onWrite) = (writes, onWrite)
    }

    /// Writes as long as it may, then waits for room.
    func write() {
        while left > 0, !isPaused {
            guard scheduler.takesWrites(of: self) else {
                isPaused = true
                return scheduler.pause(self)
            }
            scheduler.begin(bytes: bytes, of: self)
            (written, left) = (written + 1, left - 1)
            onWrite()
        }
    }

    override func takeRoom() {
        isPaused = false
        write()
    }
}
