import Operations
import Testing

/// So many at once, then one each interval.
@Suite struct AllowanceTests {
    private static let rule = Allowance.Rule(burst: 3, intervalNanoseconds: 100)

    @Test func `As many as the burst come at once, and not one more`() {
        var allowance = Allowance()
        for taken in 0..<3 {
            #expect(allowance.wait(Self.rule, now: 1_000) == 0, "\(taken)")
            allowance.take(Self.rule, now: 1_000)
        }
        #expect(allowance.wait(Self.rule, now: 1_000) == 100)
    }

    @Test
    func
        `One comes back with each interval, not a nanosecond sooner, and never more than the burst`()
    {
        var allowance = Allowance()
        for _ in 0..<3 { allowance.take(Self.rule, now: 1_000) }
        #expect(allowance.wait(Self.rule, now: 1_099) == 1)
        #expect(allowance.wait(Self.rule, now: 1_100) == 0)
        allowance.take(Self.rule, now: 1_100)
        #expect(allowance.wait(Self.rule, now: 1_100) == 100)
        #expect(!allowance.isFull(now: 1_399))
        #expect(allowance.isFull(now: 1_400))
        for taken in 0..<3 {
            #expect(allowance.wait(Self.rule, now: 9_000) == 0, "\(taken)")
            allowance.take(Self.rule, now: 9_000)
        }
        #expect(allowance.wait(Self.rule, now: 9_000) == 100)
    }
}
