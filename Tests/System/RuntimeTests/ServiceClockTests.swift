import Runtime
import TestSupport
import Testing

@Suite struct ServiceClockTests {
    private let time = TestClock(1_000)
    private var clock: ServiceClock { ServiceClock(nanoseconds: { [time] in time.now }) }

    @Test func `A deadline is over when its moment has come, by its own clock`() {
        let deadline = clock.deadline(after: .nanoseconds(500))
        #expect(!deadline.isOver && deadline.timeLeft == .nanoseconds(500))
        time.advance(499)
        #expect(!deadline.isOver && deadline.timeLeft == .nanoseconds(1))
        time.advance(1)
        #expect(deadline.isOver && deadline.timeLeft == .zero)
        time.advance(1)
        #expect(deadline.isOver && deadline.timeLeft == .zero)
    }

    @Test func `A deadline can be earlier`() {
        let deadline = clock.deadline(after: .nanoseconds(500))
        #expect(deadline.earlier(by: .nanoseconds(100)).timeLeft == .nanoseconds(400))
    }

    @Test func `A time that is too long ends at the last moment there is`() {
        let start = clock.now
        #expect(start.advanced(by: .seconds(Int64.max)).nanoseconds == .max)
        let past = MonotonicTime(nanoseconds: -1_000)
        #expect(past.advanced(by: .seconds(Int64.min)).nanoseconds == .min)
        #expect(!clock.deadline(after: .seconds(Int64.max)).isOver)
        let far = MonotonicTime(nanoseconds: .min).duration(to: MonotonicTime(nanoseconds: .max))
        #expect(far > .seconds(18_446_744_073) && far < .seconds(18_446_744_074))
    }
}
