import TestSupport
import Testing

@testable import LoadTest

@Suite struct ArrivalScheduleTests {
    @Test(arguments: [0.5, 1, 3, 7, 999.5, 5_000, 123_456.7])
    func `The n-th request is due n intervals after the beginning, however large n is`(
        _ rate: Double
    ) {
        let begin: UInt64 = 987_654_321
        let schedule = ArrivalSchedule(begin: begin, rate: rate, seconds: 86_400)
        #expect(schedule.count == Int((rate * 86_400).rounded()))
        for number in [0, 1, 2, 1_000, schedule.count - 1] {
            // In tenths of a request a second, exactly.
            let exact = Double(Int128(number) * 10_000_000_000 / Int128((rate * 10).rounded()))
            let due = Double(schedule.due(number) - begin)
            #expect(abs(due - exact) <= max(1, exact * 1e-15), "request \(number)")
        }
    }

    @Test func `What is due is taken in order and once, what is not due is not`() {
        var schedule = ArrivalSchedule(begin: 100, rate: 1e9 / 10, seconds: 50e-9)
        #expect(schedule.count == 5)
        #expect(schedule.take(at: 99) == nil)
        #expect(schedule.waiting(at: 99) == 0 && schedule.waiting(at: 100) == 1)
        #expect(schedule.take(at: 115) == 100)
        #expect(schedule.take(at: 115) == 110)
        #expect(schedule.take(at: 115) == nil && schedule.next == 120)
        #expect(schedule.waiting(at: 1_000) == 3)
        #expect([120, 130, 140, nil] == (0..<4).map { _ in schedule.take(at: 1_000) })
        #expect(schedule.next == nil && schedule.waiting(at: 2_000) == 0)
    }

    @Test(arguments: Seeds.first(50))
    func `As many wait as are due and not taken, at any time`(_ seed: UInt64) {
        var random = SplitMix64(seed: seed)
        let begin = UInt64(random.below(1 << 40))
        let rate = random.pick([3.0, 7, 1_000, 99_999.9, random.number(0.1...2e6)])
        var schedule = ArrivalSchedule(begin: begin, rate: rate, seconds: 200 / rate)
        let dues = (0..<schedule.count).map(schedule.due)
        var times = dues.flatMap { [$0 - min($0, 1), $0, $0 + 1] }
        times += (0..<50).map { _ in begin + UInt64(random.below(Int(200e9 / rate) + 1)) }
        for now in times.sorted() {
            let due = dues.count { $0 <= now }
            #expect(schedule.waiting(at: now) == due - schedule.taken, "seed \(seed), at \(now)")
            if random.oneIn(3) {
                let expected = schedule.taken < due ? dues[schedule.taken] : nil
                #expect(schedule.take(at: now) == expected, "seed \(seed), at \(now)")
            }
        }
    }

    @Test func `A schedule that is ended keeps what is due and loses the rest`() {
        var schedule = ArrivalSchedule(begin: 0, rate: 1e9 / 10, seconds: 1)
        #expect(schedule.take(at: 35) == 0)
        schedule.end(at: 35)
        #expect(schedule.count == 4 && schedule.waiting(at: .max / 2) == 3)
    }
}
