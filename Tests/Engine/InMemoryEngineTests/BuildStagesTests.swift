import Objects
import Runtime
import TestSupport
import Testing

@testable import InMemoryEngine

/// What is wanted and built, as a table; and what bounds it.
@Suite struct BuildStagesTests {
    private static let start = MonotonicTime(nanoseconds: 0)
    private static let fields = (0..<40).map { FieldPath("f\($0)") }
    private static let buckets: [BucketName] = ["a", "b", "c"]

    @Test(arguments: Seeds.first(8))
    func `whatever happens, what is wanted is built, and nothing is left of deleted buckets`(
        seed: UInt64
    ) {
        var random = SplitMix64(seed: seed)
        var stages = BuildStages()
        var builds: [BuildStages.Build] = []
        func cost(_ bucket: BucketName) -> Int { ["a": 10_000, "b": 2_000][bucket] ?? 30 }
        func end(_ stages: inout BuildStages) {
            let build = builds.remove(at: random.below(builds.count))
            for part in build.parts where !random.oneIn(4) {
                stages.finish(
                    build.ticket, part, of: build.bucket,
                    as: part.isOrder ? nil : .installed(isVacant: false))
            }
            stages.giveUp(build.ticket, of: build.bucket, again: random.oneIn(3))
            stages.leave(build.ticket)
        }
        for _ in 0..<5_000 {
            let (bucket, field) = (random.pick(Self.buckets), random.pick(Self.fields))
            switch random.below(8) {
            case 0...1:
                _ = stages.want(
                    random.oneIn(3) ? .order(field) : .column(field), of: bucket,
                    isRemembered: random.oneIn(3), at: Self.start)
            case 2...3:
                let next = stages.next(
                    where: { bucket in !builds.contains { $0.bucket == bucket } }, cost: cost)
                if let next {
                    #expect(!next.parts.isEmpty && next.parts.count <= BuildStages.columnsAtOnce)
                    #expect(Set(next.parts.map(\.isOrder)).count == 1)
                    builds.append(next)
                    let costs = builds.map { cost($0.bucket) }
                    #expect(costs.count < 2 || costs.min()! * 4 <= costs.max()!, "seed \(seed)")
                }
            case 4 where !builds.isEmpty: end(&stages)
            case 5: stages.remove(field, of: bucket, until: random.oneIn(2) ? Self.start : nil)
            case 6: _ = stages.publish()
            case 7 where random.oneIn(10): stages.remove(bucket)
            default: break
            }
        }
        while !stages.isIdle {
            if let next = stages.next(where: { _ in builds.isEmpty }, cost: cost) {
                builds.append(next)
            } else {
                end(&stages)
            }
        }
        #expect(builds.isEmpty)
        _ = stages.publish()
        #expect(stages.columns { $0.isUnderWay } == [], "seed \(seed)")
        for bucket in Self.buckets { stages.remove(bucket) }
        #expect(Array(stages.all).isEmpty)
    }

    @Test func `queries want so many parts at a time, a start as many as there were`() {
        var stages = BuildStages()
        let most = BuildStages.mostWanted
        func want(_ number: Int, isRemembered: Bool) -> Bool {
            stages.want(
                .column(FieldPath("f\(number)")), of: "a", isRemembered: isRemembered,
                at: Self.start)
        }
        for number in 1...2 * most { #expect(want(-number, isRemembered: true)) }
        for number in 1...2 * most {
            let isNew = want(number, isRemembered: false)
            #expect(isNew == (number <= most))
        }
        stages.remove("a")
        let isNew = want(1, isRemembered: false)
        #expect(isNew)
    }

    @Test func `a refusal is over after its time, and is then forgotten`() {
        var stages = BuildStages()
        let later = Self.start.advanced(by: .seconds(60))
        for field in Self.fields { stages.remove(field, of: "a", until: later) }
        func want(at time: MonotonicTime) -> Bool {
            stages.want(.column(Self.fields[0]), of: "a", isRemembered: false, at: time)
        }
        let isEarly = !want(at: Self.start)
        #expect(isEarly)
        stages.forgetRefusals(before: Self.start)
        #expect(Array(stages.all).count == Self.fields.count)
        let isLate = want(at: later)
        #expect(isLate)
        stages.forgetRefusals(before: later)
        #expect(Array(stages.all).count == 1)
    }

    @Test func `principals beyond a number share the budget of those without a login`() {
        var budgets = ColumnBudgets(at: Self.start)
        for number in 0..<5_000 {
            let principal = "p\(number)"
            if budgets.hasRoom(for: principal, limit: 3) { budgets.charge(principal) }
        }
        #expect(budgets.hasRoom(for: "p0", limit: 3))
        #expect(!budgets.hasRoom(for: "p4999", limit: 3))
        #expect(!budgets.hasRoom(for: nil, limit: 3))
        let renewals = [59, 60].map { budgets.renew(at: Self.start.advanced(by: .seconds($0))) }
        #expect(renewals == [false, true])
        #expect(budgets.hasRoom(for: nil, limit: 3))
    }
}
