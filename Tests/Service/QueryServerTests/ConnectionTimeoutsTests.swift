import Objects
import Testing

@testable import QueryServer

/// For how long a connection may be as it is, a millisecond under each limit, at it, and over it.
@Suite struct ConnectionTimeoutsTests {
    @Test(
        arguments: [
            (ConnectionTimeouts.Check(hasArrived: false), 100, .noHandshake),
            (ConnectionTimeouts.Check(isWithinLine: true), 200, .unendingLine),
            (ConnectionTimeouts.Check(unsentBytes: 1), 300, .unread),
            (ConnectionTimeouts.Check(), 400, .idle),
        ] as [(ConnectionTimeouts.Check, Int64, ConnectionTimeouts.End)])
    func `A connection ends a millisecond after its limit`(
        _ check: ConnectionTimeouts.Check, _ limit: Int64, _ end: ConnectionTimeouts.End
    ) {
        var timeouts = ConnectionTimeouts(now: 0)
        for (after, expected) in [(0, nil), (limit - 1, nil), (limit, nil), (limit + 1, end)] {
            #expect(
                timeouts.end(of: check, now: after * 1_000_000, .impatient) == expected, "\(after)")
        }
    }

    @Test func `A request under way, a finished line and a read answer each begin the time anew`() {
        var timeouts = ConnectionTimeouts(now: 0)
        func end(_ check: ConnectionTimeouts.Check, _ milliseconds: Int64) -> ConnectionTimeouts
            .End?
        {
            timeouts.end(of: check, now: milliseconds * 1_000_000, .impatient)
        }
        #expect(end(.init(isAtWork: true), 10_000) == nil)
        #expect(end(.init(), 10_400) == nil)
        #expect(end(.init(), 10_401) == .idle)
        #expect(end(.init(lines: 1, isWithinLine: true), 20_000) == nil)
        #expect(end(.init(lines: 1, isWithinLine: true), 20_200) == nil)
        #expect(end(.init(lines: 2, isWithinLine: true), 20_400) == nil)
        #expect(end(.init(lines: 2, isWithinLine: true), 20_601) == .unendingLine)
        #expect(end(.init(lines: 3), 30_000) == nil)
        #expect(end(.init(lines: 3, unsentBytes: 9), 30_000) == nil)
        #expect(end(.init(lines: 3, unsentBytes: 8), 30_299) == nil)
        #expect(end(.init(lines: 3, unsentBytes: 8), 30_599) == nil)
        #expect(end(.init(lines: 3, unsentBytes: 9), 30_600) == .unread)
    }

    @Test func `What has begun since the last look has its full time`() {
        for (check, limit, expected) in [
            (.init(isWithinLine: true), 200, .unendingLine), (.init(unsentBytes: 1), 300, .unread),
        ] as [(ConnectionTimeouts.Check, Int64, ConnectionTimeouts.End)] {
            var timeouts = ConnectionTimeouts(now: 0)
            func end(_ check: ConnectionTimeouts.Check, _ time: Int64) -> ConnectionTimeouts.End? {
                timeouts.end(of: check, now: time * 1_000_000, .impatient)
            }
            #expect(end(.init(), 0) == nil)
            #expect(end(check, 90) == nil)
            #expect(end(check, 90 + limit) == nil)
            #expect(end(check, 91 + limit) == expected)
        }
    }

    @Test func `Bytes of a line that does not end are no sign of life`() {
        var timeouts = ConnectionTimeouts(now: 0)
        var ended: ConnectionTimeouts.End?
        for second in 1...10 where ended == nil {
            ended = timeouts.end(
                of: .init(isWithinLine: true), now: Int64(second) * 50_000_000, .impatient)
        }
        #expect(ended == .unendingLine)
    }
}
