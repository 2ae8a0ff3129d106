import EmbeddedBackend
import Objects
import Runtime
import TestSupport
import Testing

@testable import PostgresBackend

/// What a node decides while PostgreSQL does not answer, and when it answers again.
@Suite struct OutageTests {
    private static let second: Int64 = 1_000_000_000

    private static func outage(_ clock: TestClock, seconds: Int) -> Outage {
        Outage(
            limit: .seconds(seconds), clock: ServiceClock(nanoseconds: { clock.now }))
    }

    @Test func `every attempt is made within the limit, then one a second, until one succeeds`() {
        let clock = TestClock(0)
        var outage = Self.outage(clock, seconds: 10)
        func attempts(_ seconds: Int64) -> Int {
            var count = 0
            for _ in 0..<seconds * 10 {
                let begin = MonotonicTime(nanoseconds: clock.now)
                if outage.isWorthTrying() {
                    count += 1
                    outage.failed(since: begin)
                }
                clock.advance(Self.second / 10)
            }
            return count
        }
        #expect(attempts(10) == 100)
        #expect(attempts(60) == 60)
        outage.ended()
        #expect(attempts(10) == 100)
    }

    @Test func `requests wait until the limit after the outage's begin, whenever they came`() {
        let clock = TestClock(5 * Self.second)
        var outage = Self.outage(clock, seconds: 10)
        func left() -> Int64 {
            let now = MonotonicTime(nanoseconds: clock.now)
            return (outage.deadline(now).nanoseconds - clock.now) / Self.second
        }
        #expect(left() == 10)
        // An attempt that itself took four seconds.
        let begin = MonotonicTime(nanoseconds: clock.now)
        clock.advance(4 * Self.second)
        outage.failed(since: begin)
        #expect(left() == 6)
        clock.advance(3 * Self.second)
        outage.failed(since: MonotonicTime(nanoseconds: clock.now))
        #expect(left() == 3)
        clock.advance(100 * Self.second)
        #expect(left() == 0)
        outage.ended()
        #expect(left() == 10)
    }

    // MARK: Divergence

    private static let (epoch, otherEpoch, batch) = (
        UUIDBytes(Array(1...16))!, UUIDBytes(Array(2...17))!, UUIDBytes(Array(3...18))!
    )

    @Test(arguments: [nil, batch] as [UUIDBytes?])
    func `a mark is what its bytes say`(batch: UUIDBytes?) throws {
        let mark = StateMark(epoch: Self.epoch, batch: batch)
        let read = try #require(StateMark(mark.bytes))
        #expect(read.epoch == Self.epoch && read.batch == batch)
        #expect(StateMark(Array(mark.bytes.prefix(15))) == nil && StateMark([]) == nil)
    }

    /// All combinations of what a node can find.
    @Test func `a node goes on only in its epoch, where its last batch is known and not ahead`() {
        let state = SharedState(
            change: 100, mark: StateMark(epoch: Self.epoch, batch: Self.batch).bytes)
        for epoch in [Self.epoch, Self.otherEpoch] {
            for past in [ClusterTables.Past.known, .forgotten, .lost] {
                for head in [99, 100, 101] as [UInt64] {
                    let divergence = Divergence(
                        of: state, from: .init(change: head, epoch: epoch), past)
                    let goesOn = epoch == Self.epoch && past == .known && head >= 100
                    let context = "\(epoch == Self.epoch) \(past) \(head)"
                    #expect((divergence == nil) == goesOn, "\(context)")
                    // Only a loss ends the epoch of all nodes.
                    var isLoss = false
                    if case .loss(let there, let here)? = divergence {
                        isLoss = there == head && here == 100
                    }
                    let hasLost = epoch == Self.epoch && (past == .lost || head < 100)
                    #expect(isLoss == hasLost, "\(context)")
                }
            }
        }
    }

    @Test func `a loss is told with both numbers`() {
        let state = SharedState(change: 7, mark: StateMark(epoch: Self.epoch, batch: nil).bytes)
        let text = Divergence(of: state, from: .init(change: 5, epoch: Self.epoch), .known)?
            .description
        #expect(text?.contains("change 5") == true && text?.contains("at 7") == true)
    }
}
