import Objects
import Runtime
import TestSupport
import Testing

@testable import PostgresBackend

@Suite struct HeldBucketsTests {
    private let shops = BucketName(trusted: "shops")
    private let parks = BucketName(trusted: "parks")
    private let time = TestClock(0)
    private var clock: ServiceClock { ServiceClock(nanoseconds: { [time] in time.now }) }

    private func release(_ held: HeldBuckets, isPinned: Bool = false) -> Bool {
        held.release(shops, unless: { _ in isPinned })
    }

    @Test func `a bucket is held when it has been wanted, loaded and joined`() {
        let held = HeldBuckets([], clock: clock)
        #expect(held.want(shops) && !held.want(shops) && held.loading == 1)
        #expect(!held.holds(shops))
        #expect(held.takeWanted(atMost: 8) == [shops] && held.takeWanted(atMost: 8).isEmpty)
        #expect(!held.want(shops) && held.loading == 1)
        held.joined([shops])
        #expect(held.holds(shops) && held.loading == 0 && held.statistics.loads == 1)
    }

    @Test func `what a request waits for is loaded first`() {
        let held = HeldBuckets([], clock: clock)
        _ = held.want(parks)
        _ = held.want(shops)
        _ = held.want(shops, isUrgent: true)
        #expect(held.takeWanted(atMost: 1) == [shops])
        #expect(held.takeWanted(atMost: 9) == [parks])
    }

    @Test func `what two requests wait for in turn is loaded once`() {
        let held = HeldBuckets([], clock: clock)
        for _ in 0..<100 {
            _ = held.want(parks, isUrgent: true)
            _ = held.want(shops, isUrgent: true)
        }
        #expect(held.takeWanted(atMost: 9) == [shops, parks])
        held.failed([shops, parks])
        #expect(!held.want(parks, isUrgent: true))
        #expect(held.takeWanted(atMost: 9) == [parks, shops])
    }

    @Test func `a bucket that is leaving is held until it is released`() {
        let held = HeldBuckets([shops], clock: clock)
        held.revise { _ in false }
        #expect(held.holds(shops))
        time.advance(9)
        #expect(held.leaving(for: .nanoseconds(10)).isEmpty)
        time.advance(1)
        #expect(held.leaving(for: .nanoseconds(10)) == [shops])
        #expect(release(held) && !held.holds(shops) && !release(held))
        #expect(held.statistics.releases == 1)
    }

    @Test func `a bucket that is to be held again stays`() {
        let held = HeldBuckets([shops], clock: clock)
        let ticket = held.ticket(of: shops)
        held.revise { _ in false }
        held.revise { _ in true }
        #expect(!release(held) && held.ticket(of: shops) == ticket)
    }

    @Test func `a leaving bucket that has been pinned stays, and may leave later`() {
        let held = HeldBuckets([shops], clock: clock)
        let ticket = held.ticket(of: shops)
        held.revise { _ in false }
        #expect(!release(held, isPinned: true) && held.ticket(of: shops) == ticket)
        #expect(!release(held), "it is not leaving any more")
        held.leave { _ in true }
        #expect(release(held) && !held.holds(shops))
    }

    @Test func `a bucket that went and came back is another stay`() {
        let held = HeldBuckets([shops], clock: clock)
        let ticket = held.ticket(of: shops)
        held.revise { _ in false }
        #expect(release(held) && held.want(shops))
        held.joined(held.takeWanted(atMost: 1))
        #expect(held.holds(shops) && held.ticket(of: shops) != ticket)
    }

    @Test func `a loading that failed is tried again`() {
        let held = HeldBuckets([], clock: clock)
        _ = held.want(shops)
        held.failed(held.takeWanted(atMost: 1))
        #expect(held.takeWanted(atMost: 1) == [shops])
    }

    @Test func `a bucket that did not fit is wanted again only after a while`() {
        let held = HeldBuckets([], clock: clock)
        _ = held.want(shops)
        _ = held.takeWanted(atMost: 1)
        held.refuse(shops, "it is too large", for: .nanoseconds(60))
        #expect(held.refusal(of: shops) == "it is too large" && held.statistics.refused == 1)
        time.advance(59)
        #expect(!held.want(shops))
        time.advance(1)
        #expect(held.want(shops))
    }
}
