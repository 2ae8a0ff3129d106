import NIOEmbedded
import Objects
import Operations
import TestSupport
import Testing

@testable import QueryServer

/// What reaches many connections of an event loop at the same moment.
@Suite struct LoopSchedulerTests {
    private let loop = EmbeddedEventLoop()

    @Test func `Many answers come in order, and other connections are served in between`() {
        let answers = FinishedAnswers(eventLoop: loop, executor: LoopExecutor())
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

    @Test func `Only as many writes go on as there is room for, in their order`() {
        let room = WriteRoom(bytes: 10)
        let scheduler = LoopScheduler(
            service: Operations.Service(backend: EndlessBackend(), limits: Limits()),
            eventLoop: loop, executor: LoopExecutor(), room: room,
            connectionMemory: ConnectionMemory(limit: 1_000))
        room.take(10)
        let users = (0..<100).map { _ in WritingUser(room) }
        for user in users { scheduler.pause(user) }
        loop.run()
        #expect(users.allSatisfy { $0.turns == 0 })
        for count in 1...100 {
            room.giveBack(10)
            loop.run()
            #expect(users.map(\.turns) == (0..<100).map { $0 < count ? 1 : 0 })
        }
        // Who comes later waits again.
        scheduler.pause(users[0])
        loop.run()
        #expect(users[0].turns == 1)
        room.giveBack(10)
        loop.run()
        #expect(users[0].turns == 2)
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

/// A connection whose write waits for room, and then takes all of it.
private final class WritingUser: StillConnection, @unchecked Sendable {
    private let room: WriteRoom
    private(set) var turns = 0

    init(_ room: WriteRoom) { self.room = room }

    override func takeRoom() {
        turns += 1
        room.take(10)
    }
}
