import Digests
import Objects
import ServiceDesk
import Testing

@testable import WebServer

/// The sessions of browsers.
@Suite struct SessionsTests {
    private static func caller(_ name: String) -> Caller { Caller(address: name) }

    @Test func `A session is found by its secret until it ends`() {
        let sessions = Sessions()
        let id = sessions.begin(Self.caller("a1"), until: 1_000, now: 0)
        let other = sessions.begin(Self.caller("a2"), until: 2_000, now: 0)
        #expect(sessions.caller(of: id, now: 999)?.address == "a1")
        #expect(sessions.caller(of: id, now: 1_000) == nil)
        #expect(sessions.caller(of: other, now: 1_000)?.address == "a2")
        sessions.end(other)
        #expect(sessions.caller(of: other, now: 1_000) == nil)
        for wrong in ["", "x", String(id.dropLast()), id + "A", id.uppercased()] {
            #expect(sessions.caller(of: wrong, now: 0) == nil)
        }
        // Ending what is not there harms nobody.
        sessions.end("x")
        #expect(sessions.caller(of: id, now: 0)?.address == "a1")
    }

    @Test func `A secret has 256 bits that nobody guesses, in letters that a cookie may have`() {
        let sessions = Sessions()
        let ids = (0..<100).map { _ in sessions.begin(Self.caller("a1"), until: 1, now: 0) }
        #expect(Set(ids).count == ids.count)
        for id in ids {
            #expect(id.utf8.count == 43)
            #expect(id.wholeMatch(of: /[A-Za-z0-9_-]*/) != nil)
        }
        // Each place takes many values.
        for place in 0..<42 {
            #expect(Set(ids.map { Array($0)[place] }).count > 30, "place \(place)")
        }
    }

    @Test func `Of the secrets of sessions only digests are kept`() {
        let sessions = Sessions()
        let ids = (0..<3).map { sessions.begin(Self.caller("a\($0)"), until: 1_000, now: 0) }
        let digests = Set(ids.map { SHA256.digest(of: Array($0.utf8)) })
        var kept = ""
        sessions.state.withLock { state in
            #expect(Set(state.sessions.keys) == digests)
            #expect(state.byPrincipal.values.reduce([]) { $0.union($1) } == digests)
            dump(state, to: &kept)
        }
        // A dump has all that is stored, bytes as numbers in a list.
        #expect(kept.contains("a1"))
        for id in ids { #expect(!kept.contains(id)) }
    }

    @Test func `When there are too many, those that are over give way, then the first to end`() {
        let sessions = Sessions()
        let limit = Limits().sessions
        // The later begun, the sooner it ends.
        let ids = (0..<limit).map { number in
            sessions.begin(Self.caller("a\(number)"), until: Int64(2 * limit - number), now: 0)
        }
        func isThere(_ id: String) -> Bool { sessions.caller(of: id, now: 0) != nil }
        #expect(isThere(ids[0]) && isThere(ids[limit - 1]))
        let more = sessions.begin(Self.caller("more"), until: Int64(2 * limit), now: 0)
        #expect(isThere(more) && isThere(ids[limit - 2]) && !isThere(ids[limit - 1]))
        // Ten are over by now: nobody else has to go.
        let now = Int64(2 * limit - (limit - 11))
        let late = sessions.begin(Self.caller("late"), until: now + 1, now: now)
        #expect(isThere(late) && isThere(more) && isThere(ids[limit - 12]))
        #expect(!isThere(ids[limit - 11]) && !isThere(ids[limit - 2]))
    }
}
