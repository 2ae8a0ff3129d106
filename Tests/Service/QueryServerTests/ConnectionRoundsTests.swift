import NIOCore
import NIOEmbedded
import Objects
import Runtime
import ServiceDesk
import Testing

@testable import QueryServer

/// Periodic checks of many connections of one event loop.
@Suite(.timeLimit(.minutes(5))) struct ConnectionRoundsTests {
    private let loop = EmbeddedEventLoop()

    private func rounds(bufferedBytes: Int = 1_000) -> ConnectionRounds {
        ConnectionRounds(
            Limits(), ServiceClock(), ConnectionMemory(limit: bufferedBytes), links: nil, on: loop)
    }

    @Test(arguments: [0, 1, 127, 128, 129, 1_000, 5_000])
    func `A round checks each connection once, and few at a time`(count: Int) throws {
        let rounds = rounds()
        let first = CheckedUser()
        rounds.add(first)
        let users = (0..<count).map { _ in CheckedUser() }
        for user in users { rounds.add(user) }
        // The round of the first connection alone.
        loop.advanceTime(by: .milliseconds(100))
        #expect(first.checks == 1 && users.allSatisfy { $0.checks == 0 })
        var before = 0
        for _ in 0..<100 {
            loop.advanceTime(by: .milliseconds(1))
            let checks = users.reduce(0) { $0 + $1.checks }
            // As many connections need more than one step a millisecond.
            let steps = (count / ConnectionRounds.stepSize + 99) / 100 + 1
            #expect(checks - before <= steps * ConnectionRounds.stepSize)
            before = checks
        }
        loop.advanceTime(by: .nanoseconds(Int64(count)))  // what the pauses were rounded down by
        #expect(first.checks == 2)
        #expect(users.allSatisfy { $0.checks == 1 })
    }

    @Test func `A connection that is gone is not checked in the next round`() {
        let rounds = rounds()
        let users = (0..<300).map { _ in CheckedUser() }
        for user in users { rounds.add(user) }
        loop.advanceTime(by: .milliseconds(250))
        for user in users[..<200] { rounds.remove(user) }
        loop.advanceTime(by: .milliseconds(100))
        let before = users.map(\.checks)
        loop.advanceTime(by: .seconds(1))
        let checks = zip(users, before).map { $0.checks - $1 }
        #expect(checks[..<200].allSatisfy { $0 == 0 })
        #expect(checks[200...].allSatisfy { $0 >= 9 })
    }

    @Test func `An idle connection is checked in every tenth round, and in each when it is awake`()
    {
        let rounds = rounds()
        let (idle, busy) = (CheckedUser(), CheckedUser())
        idle.rests = true
        rounds.add(idle)
        rounds.add(busy)
        loop.advanceTime(by: .milliseconds(4_050))
        #expect(idle.isIdle && !busy.isIdle)
        #expect(busy.checks == 39)
        #expect((4...5).contains(idle.checks))
        rounds.wake(idle)
        idle.rests = false
        let before = idle.checks
        loop.advanceTime(by: .milliseconds(1_000))
        #expect(!idle.isIdle)
        #expect((9...10).contains(idle.checks - before))
    }

    @Test func `An idle connection whose check finds something is checked in each round`() {
        let rounds = rounds()
        let user = CheckedUser()
        user.rests = true
        rounds.add(user)
        loop.advanceTime(by: .milliseconds(150))
        #expect(user.isIdle)
        user.rests = false
        loop.advanceTime(by: .milliseconds(1_100))
        #expect(!user.isIdle)
        let before = user.checks
        loop.advanceTime(by: .milliseconds(1_000))
        #expect(user.checks - before == 10)
    }

    @Test func `The largest connections are ended while all use too much, and no others`() {
        let rounds = rounds(bufferedBytes: 1_000)
        let users = (0..<400).map { CheckedUser(bufferedBytes: $0 % 7 == 0 ? 0 : 2) }
        users[17].bufferedBytes = 300
        users[390].bufferedBytes = 900
        for user in users { rounds.add(user) }
        loop.advanceTime(by: .milliseconds(300))
        #expect(users.indices.filter { users[$0].isEvicted } == [390])
        users[200].bufferedBytes = 800
        loop.advanceTime(by: .milliseconds(200))
        #expect(users.indices.filter { users[$0].isEvicted } == [200, 390])
    }

    @Test func `A connection that can drop a part is ended only if that is not enough`() {
        for (kept, isEnded) in [(500, false), (901, true)] {
            let rounds = rounds(bufferedBytes: 1_000)
            let users = (0..<4).map { CheckedUser(bufferedBytes: 50 * $0) }
            users[1].bufferedBytes = 2_000
            users[1].keptAtFirst = kept
            for user in users { rounds.add(user) }
            loop.advanceTime(by: .milliseconds(250))
            #expect(users.indices.filter { users[$0].isEvicted } == (isEnded ? [1] : []))
            #expect(users[1].bufferedBytes == (isEnded ? 0 : kept))
        }
    }

    @Test func `Many are ended with one check each`() {
        let rounds = rounds(bufferedBytes: 1_000)
        let users = (0..<1_000).map { CheckedUser(bufferedBytes: 1 + $0 % 10) }
        let first = CheckedUser()
        rounds.add(first)
        for user in users { rounds.add(user) }
        loop.advanceTime(by: .milliseconds(250))
        // 100 connections of each size from 1 to 10: the sizes 1 to 3 remain, and 4 of which 100 fit.
        let sizes = users.filter { !$0.isEvicted }.map(\.bufferedBytes)
        #expect(sizes.reduce(0, +) <= 1_000 && sizes.reduce(0, +) > 990)
        #expect(sizes.max() == 4)
        // In the round of all, and once more before they are ended.
        #expect(users.allSatisfy { $0.checks <= 3 })
    }

    @Test func `A late step checks what the round should have checked by then`() {
        let step = ConnectionRounds.stepSize
        func count(_ unchecked: Int, at share: Double) -> Int {
            ConnectionRounds.count(of: unchecked, ofAll: 10_000, at: share)
        }
        #expect(count(10_000, at: 0) == step)
        #expect(count(10_000, at: 0.0128) == step)
        #expect(count(10_000, at: 0.5) == 5_000)
        #expect(count(5_000, at: 0.5) == step)
        #expect(count(10_000, at: 1) == 10_000 && count(10_000, at: 7) == 10_000)
        #expect(count(5, at: 0.1) == 5 && count(0, at: 1) == 0)
    }

    @Test func `What was sent since it was seen ends no connection`() {
        let rounds = rounds(bufferedBytes: 1_000)
        let users = (0..<400).map { _ in CheckedUser() }
        var checks = 0
        for user in users {
            rounds.add(user)
            // What is unsent is known from the last check.
            user.onCheck = {
                checks += 1
                // The first round has only the first connection; after the second all is sent.
                user.bufferedBytes = checks <= 1 + 400 ? 10 : 0
            }
        }
        loop.advanceTime(by: .milliseconds(250))
        #expect(checks > 1 + 400)
        #expect(users.allSatisfy { !$0.isEvicted })
    }

    @Test func `Without connections nothing is checked, and the memory of the last is free`() {
        let memory = ConnectionMemory(limit: 1_000)
        let rounds = ConnectionRounds(Limits(), ServiceClock(), memory, links: nil, on: loop)
        let other = ConnectionRounds(Limits(), ServiceClock(), memory, links: nil, on: loop)
        let user = CheckedUser(bufferedBytes: 900)
        rounds.add(user)
        loop.advanceTime(by: .milliseconds(150))
        rounds.remove(user)
        loop.advanceTime(by: .seconds(1))
        #expect(!memory.report(.init(total: 200, largest: 200), of: other))
    }
}

/// A connection that notes its checks.
///
/// `@unchecked Sendable`: the test uses it on one thread.
private final class CheckedUser: StillConnection, @unchecked Sendable {
    var onCheck: () -> Void = {}
    var rests = false
    private(set) var checks = 0
    private(set) var isEvicted = false
    /// What it keeps when it is to be evicted for the first time, without being ended.
    var keptAtFirst: Int?

    init(bufferedBytes: Int = 0) {
        super.init()
        self.bufferedBytes = bufferedBytes
    }

    override func check(now: Int64) -> Bool {
        checks += 1
        onCheck()
        return rests
    }

    override func evict() {
        if let kept = keptAtFirst.take() {
            bufferedBytes = kept
            return
        }
        isEvicted = true
        bufferedBytes = 0
    }
}
