import ServiceDesk
import Testing

/// So many at once, then one each interval.
@Suite struct RateLimitTests {
    private static let rule = RateLimit.Rule(burst: 3, intervalNanoseconds: 100)

    @Test func `As many as the burst come at once, and not one more`() {
        var rateLimit = RateLimit()
        for taken in 0..<3 {
            #expect(rateLimit.wait(Self.rule, now: 1_000) == 0, "\(taken)")
            rateLimit.take(Self.rule, now: 1_000)
        }
        #expect(rateLimit.wait(Self.rule, now: 1_000) == 100)
    }

    @Test
    func
        `One comes back with each interval, not a nanosecond sooner, and never more than the burst`()
    {
        var rateLimit = RateLimit()
        for _ in 0..<3 { rateLimit.take(Self.rule, now: 1_000) }
        #expect(rateLimit.wait(Self.rule, now: 1_099) == 1)
        #expect(rateLimit.wait(Self.rule, now: 1_100) == 0)
        rateLimit.take(Self.rule, now: 1_100)
        #expect(rateLimit.wait(Self.rule, now: 1_100) == 100)
        #expect(!rateLimit.isFull(now: 1_399))
        #expect(rateLimit.isFull(now: 1_400))
        for taken in 0..<3 {
            #expect(rateLimit.wait(Self.rule, now: 9_000) == 0, "\(taken)")
            rateLimit.take(Self.rule, now: 9_000)
        }
        #expect(rateLimit.wait(Self.rule, now: 9_000) == 100)
    }

    @Test func `Intervals that no number holds together are no fault`() {
        // The greatest values of failedLogins and failedLoginMilliseconds.
        let most = RateLimit.Rule(burst: 1_000_000, intervalNanoseconds: 86_400_000_000_000)
        var rateLimit = RateLimit()
        for _ in 0..<200_000 { rateLimit.take(most, now: 1_000) }
        #expect(rateLimit.wait(most, now: 1_000) == 0)
        let one = RateLimit.Rule(burst: 1, intervalNanoseconds: 86_400_000_000_000)
        #expect(rateLimit.wait(one, now: 1_000) == .max - 1_000)
    }
}
