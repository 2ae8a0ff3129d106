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

    @Test func `A schedule that is ended keeps what is due and loses the rest`() {
        var schedule = ArrivalSchedule(begin: 0, rate: 1e9 / 10, seconds: 1)
        #expect(schedule.take(at: 35) == 0)
        schedule.end(at: 35)
        #expect(schedule.count == 4 && schedule.waiting(at: .max / 2) == 3)
    }
}
