import Objects
import Testing

/// Which quota a scope has, and what it permits.
@Suite struct QuotaTests {
    private static func scope(_ text: String) throws -> BucketScope {
        try BucketScope(text, at: "scope")
    }

    @Test func `A scope's own quota counts, else its principal's, else that of its kind`() throws {
        let quotas = Quotas()
        #expect(quotas.isEmpty)
        quotas.replace(rules: [
            "users": Quota(objects: 1), "users/alice": Quota(objects: 2), "groups": Quota(bytes: 3),
        ])
        quotas.replace(principals: ["alice": Quota(objects: 4), "bob": Quota(objects: 5)])
        #expect(!quotas.isEmpty)
        for (name, quota) in [
            ("users/alice", Quota(objects: 2)), ("users/bob", Quota(objects: 5)),
            ("users/carl", Quota(objects: 1)), ("groups/bob", Quota(bytes: 3)), ("things/t1", nil),
        ] as [(String, Quota?)] {
            #expect(quotas.quota(of: try Self.scope(name)) == quota, "\(name)")
        }
        #expect(quotas.quota(of: .application) == nil)
        quotas.replace(rules: [:])
        #expect(quotas.quota(of: try Self.scope("users/carl")) == nil)
        #expect(quotas.quota(of: try Self.scope("users/alice")) == Quota(objects: 4))
    }

    @Test func `A bound is the most that is permitted, and its refusal names it`() throws {
        let quota = Quota(objects: 10, bytes: 100, buckets: 2)
        let alice = try Self.scope("users/alice")
        let present = ScopeUsage(objects: 9, bytes: 90, buckets: 1)
        try quota.check(present, adding: ScopeUsage(objects: 1, bytes: 10, buckets: 1), in: alice)
        for (change, name) in [
            (ScopeUsage(objects: 2), "10 objects"), (ScopeUsage(bytes: 11), "100 bytes"),
            (ScopeUsage(buckets: 2), "2 buckets"),
        ] {
            let failure = #expect(throws: ServiceFailure.self) {
                try quota.check(present, adding: change, in: alice)
            }
            #expect(failure?.reason == .quotaExceeded)
            #expect(failure?.message.contains("\"users/alice\" is \(name)") == true)
        }
        // Above the bound less is always permitted, and the same.
        let full = ScopeUsage(objects: 20, bytes: 200, buckets: 5)
        try quota.check(full, adding: ScopeUsage(objects: 0, bytes: -1, buckets: 0), in: alice)
    }

    @Test func `Of two quotas the least of each bound counts`() {
        let quota = Quota(objects: 10, bytes: nil, buckets: 3)
            .least(Quota(objects: 20, bytes: 5, buckets: 2))
        #expect(quota == Quota(objects: 10, bytes: 5, buckets: 2))
    }

    @Test func `The scopes nearest their quotas are remembered, a hundred at most`() throws {
        let (quotas, quota) = (Quotas(), Quota(objects: 1_000))
        quotas.replace(rules: ["users": quota])
        for number in 0..<200 {
            let usage = ScopeUsage(objects: 700 + number)
            quotas.note(
                usage, of: try Self.scope("users/u\(number)"), quota, isRefused: number == 199)
        }
        #expect(quotas.refused == 1)
        let nearest = quotas.nearest(atMost: 1_000)
        #expect(nearest.count == 100)
        #expect(nearest.map(\.usage.objects) == Array((800..<900).reversed()))
        quotas.note(
            ScopeUsage(objects: 1), of: try Self.scope("users/u199"), quota, isRefused: false)
        #expect(quotas.nearest(atMost: 1).first?.scope == "users/u198")
    }
}
