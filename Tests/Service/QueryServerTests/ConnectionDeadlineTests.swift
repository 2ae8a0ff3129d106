import Objects
import Testing

@testable import QueryServer

/// When a connection is ended because its client takes too long.
@Suite struct ConnectionDeadlineTests {
    @Test(arguments: [99, 100, 101])
    func `Who has not arrived after handshakeMilliseconds is closed`(_ milliseconds: Int64) {
        for (isSecured, isWelcome) in [(false, true), (true, false), (true, true)] {
            var run = ConnectionRun(limits: .impatient, isSecured: isSecured)
            run.check(at: milliseconds, isWelcome: isWelcome)
            #expect(run.isClosed == (milliseconds > 100 && !(isSecured && isWelcome)))
        }
        var run = ConnectionRun(limits: .impatient, isSecured: false)
        run.handle(.secured)
        run.check(at: milliseconds)
        #expect(!run.isClosed)
    }

    @Test(arguments: [199, 200, 201])
    func `A line that does not end within lineMilliseconds is told so`(_ milliseconds: Int64) {
        var run = ConnectionRun(limits: .impatient)
        run.receive("r")
        run.check(at: 0)
        run.check(at: milliseconds)
        #expect(run.sent == (milliseconds > 200 ? "lineTooSlow" : ""))
        #expect(run.isFinishing == (milliseconds > 200))
    }

    @Test(arguments: [299, 300, 301])
    func `Who does not read for unreadMilliseconds is closed`(_ milliseconds: Int64) {
        var run = ConnectionRun(limits: .impatient)
        run.receive("r1\n")
        run.check(at: 0, unsentBytes: 3)
        run.check(at: milliseconds, unsentBytes: 3)
        #expect(run.isClosed == (milliseconds > 300))
    }

    @Test(arguments: [399, 400, 401])
    func `Who asks nothing for idleMilliseconds is told the end`(_ milliseconds: Int64) {
        var run = ConnectionRun(limits: .impatient)
        run.check(at: milliseconds)
        #expect(run.isFinishing == (milliseconds > 400))
    }

    @Test func `Who watches may ask nothing for as long as it likes, but has to read`() {
        var run = ConnectionRun(limits: .impatient)
        for time in [1, 401, 1_000, 100_000] as [Int64] { run.check(at: time, isWatching: true) }
        #expect(!run.isFinishing)
        run.check(at: 100_400)
        #expect(!run.isFinishing)
        run.check(at: 100_401)
        #expect(run.isFinishing)
        var unread = ConnectionRun(limits: .impatient)
        unread.check(at: 0, unsentBytes: 3, isWatching: true)
        unread.check(at: 301, unsentBytes: 3, isWatching: true)
        #expect(unread.isClosed)
    }
}
