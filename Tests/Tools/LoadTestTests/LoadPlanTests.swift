import TestSupport
import Testing

@testable import LoadTest

@Suite struct LoadPlanTests {
    private static func rates(of plan: LoadPlan, holdingUpTo capacity: Double = 0) -> (
        tried: [Double], held: Double?
    ) {
        var walk = RateWalk(plan)
        var tried: [Double] = []
        while let rate = walk.next() {
            tried.append(rate)
            walk.note(rate, held: rate <= capacity)
        }
        return (tried, walk.highestHeld)
    }

    @Test func `A rate is tried once, a ramp step by step with its end`() throws {
        #expect(Self.rates(of: .rate(500)).tried == [500])
        #expect(try Self.rates(of: LoadPlan(ramp: "1:2:0.1")).tried.count == 11)
        let ramp = Self.rates(of: try LoadPlan(ramp: "100:350:100"), holdingUpTo: 250)
        #expect(ramp.tried == [100, 200, 300] && ramp.held == 200)
    }

    @Test(arguments: Seeds.first(50))
    func `A ramp has as many rates as steps fit, and not more than it says`(_ seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        for _ in 0..<100 {
            // In tenths, which binary fractions are not.
            let (from, step) = (1 + random.below(100), 1 + random.below(50))
            let to = from + random.below(40) * step + random.below(step)
            func text(_ tenths: Int) -> String { "\(tenths / 10).\(tenths % 10)" }
            let ramp = "\(text(from)):\(text(to)):\(text(step))"
            let plan = try LoadPlan(ramp: ramp)
            let tried = Self.rates(of: plan).tried
            #expect(tried.count == (to - from) / step + 1, "seed \(seed): \(ramp)")
            #expect(tried.count <= plan.mostStages, "seed \(seed): \(ramp)")
            for (number, rate) in tried.enumerated() {
                let exact = Double(from + number * step) / 10
                #expect(abs(rate - exact) < 1e-9 * exact, "seed \(seed): \(ramp)")
            }
            #expect(tried.allSatisfy { $0 <= Double(to) / 10 }, "seed \(seed): \(ramp)")
        }
    }

    @Test func `A rate above one that failed is not the highest held`() {
        var walk = RateWalk(.ramp(from: 1, to: 3, step: 1))
        for held in [true, false, true] { walk.note(walk.next()!, held: held) }
        #expect(walk.highestHeld == 1)
    }

    @Test func `A search ends within 5 % below the capacity, whatever it is`() throws {
        var random = SplitMix64(seed: 20)
        for _ in 0..<200 {
            let capacity = random.number(1_000...50_000)
            let plan = try LoadPlan(search: "1000:64000")
            let (tried, held) = Self.rates(of: plan, holdingUpTo: capacity)
            #expect(held! <= capacity && held! * 1.05 >= capacity * (1 - 1e-9), "\(capacity)")
            #expect(tried.count <= plan.mostStages, "\(capacity): \(tried)")
        }
    }

    @Test func `A search that nothing or everything holds ends at its bounds`() {
        let plan = LoadPlan.search(from: 1_000, to: 5_000)
        #expect(Self.rates(of: plan, holdingUpTo: 1).tried == [1_000])
        #expect(Self.rates(of: plan, holdingUpTo: 1).held == nil)
        #expect(Self.rates(of: plan, holdingUpTo: 9_999).tried == [1_000, 2_000, 4_000, 5_000])
        #expect(Self.rates(of: plan, holdingUpTo: 9_999).held == 5_000)
    }

    @Test(arguments: ["", "1", "1:2", "0:2:1", "3:2:1", "1:2:0", "1:2:x", "1:2:3:4", "1:1e6:0.1"])
    func `What is no ramp is refused`(_ text: String) {
        #expect(throws: LoadFailure.self) { try LoadPlan(ramp: text) }
    }

    @Test(arguments: ["", "1", "2:1", "1:1", "0:1", "1:1e9", "nan:2", "1:2:3"])
    func `What is no search is refused`(_ text: String) {
        #expect(throws: LoadFailure.self) { try LoadPlan(search: text) }
    }

    @Test func `An objective has a percentile and a latency`() throws {
        #expect(try Objective("p99=5ms").nanoseconds == 5_000_000)
        #expect(try Objective("p99.9=0.5s").percentile == 99.9)
        #expect(try Objective("p50=250us").nanoseconds == 250_000)
        for text in ["", "p99", "99=5ms", "p0=5ms", "p100=5ms", "p99=5", "p99=-1ms", "p99=0ms"] {
            #expect(throws: LoadFailure.self) { try Objective(text) }
        }
    }
}
