import GeoBucketClient
import TestSupport
import Testing

@Suite struct AggregationTests {
    @Test func `Groups and figures are those of the objects that match`() async throws {
        try await withBucket { bucket in
            let documents = (0..<10).map { number in
                JSONValue.object([
                    "n": .int(number), "kind": .string(number % 3 == 0 ? "bar" : "cafe"),
                ])
            }
            _ = try await bucket.putMany(documents + [.object(["n": .int(9_007_199_254_740_993)])])
            let kinds = try await bucket.groups(by: "kind")
            #expect(kinds.groups.map(\.value) == [.string("cafe"), .string("bar")])
            #expect(kinds.groups.map(\.count) == [6, 4])
            #expect(kinds.other == 0 && kinds.without == 1)
            let bars = BucketQuery(clause: .equals("kind", value: "bar"))
            let few = try await bucket.groups(by: "n", limit: 1, matching: bars)
            #expect(few.groups.map(\.value) == [.int(0)] && few.other == 3)
            #expect(try await bucket.minimum(of: "n") == .int(0))
            #expect(try await bucket.maximum(of: "n") == .int(9_007_199_254_740_993))
            #expect(try await bucket.sum(of: "n") == .int(9_007_199_254_741_038))
            #expect(try await bucket.average(of: "n", matching: bars) == 4.5)
            #expect(try await bucket.average(of: "none") == nil)
            #expect(try await bucket.sum(of: "kind") == nil)
        }
    }
}
