import Objects
import Testing

@testable import QueryServer

/// For how long a connection may be as it is, a millisecond under each limit, at it, and over it.
@Suite struct PatienceTests {
    private static let limits = {
        var limits = Limits()
        limits.handshakeMilliseconds = 100
        limits.lineMilliseconds = 200
        limits.unreadMilliseconds = 300
        limits.idleMilliseconds = 400
        return limits
    }()

    @Test(
        arguments: [
            (Patience.Look(hasArrived: false), 100, .noHandshake),
            (Patience.Look(isWithinLine: true), 200, .unendingLine),
            (Patience.Look(unsentBytes: 1), 300, .unread),
            (Patience.Look(), 400, .idle),
        ] as [(Patience.Look, Int64, Patience.End)])
    func `A connection ends a millisecond after its limit`(
        _ look: Patience.Look, _ limit: Int64, _ end: Patience.End
    ) {
        var patience = Patience(now: 0)
        for (after, expected) in [(limit - 1, nil), (limit, nil), (limit + 1, end)] {
            #expect(
                patience.end(of: look, now: after * 1_000_000, Self.limits) == expected, "\(after)")
        }
    }

    @Test func `A request under way, a finished line and a read answer each begin the time anew`() {
        var patience = Patience(now: 0)
        func end(_ look: Patience.Look, _ milliseconds: Int64) -> Patience.End? {
            patience.end(of: look, now: milliseconds * 1_000_000, Self.limits)
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

    @Test func `Bytes of a line that does not end are no sign of life`() {
        var patience = Patience(now: 0)
        var ended: Patience.End?
        for second in 1...10 where ended == nil {
            ended = patience.end(
                of: .init(isWithinLine: true), now: Int64(second) * 50_000_000, Self.limits)
        }
        #expect(ended == .unendingLine)
    }
}
