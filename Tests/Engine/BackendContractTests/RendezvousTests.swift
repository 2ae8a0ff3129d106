import Objects
import TestSupport
import Testing

@testable import PostgresBackend

@Suite struct RendezvousTests {
    private static let buckets = (0..<10_000).map { BucketName(trusted: "users/u\($0)/notes") }

    private static func nodes(_ count: Int, _ random: inout SplitMix64) -> [UUIDBytes] {
        (0..<count).map { _ in
            UUIDBytes((0..<16).map { _ in UInt8.random(in: 0...255, using: &random) })!
        }
    }

    @Test(arguments: [1, 2, 3, 4])
    func `each node is to hold about the same number of buckets`(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        let rendezvous = Rendezvous(Self.nodes(5, &random))
        var counts = [Int](repeating: 0, count: 5)
        for bucket in Self.buckets {
            for node in rendezvous.ranking(of: bucket).prefix(2) { counts[node] += 1 }
        }
        // 4,000 are expected, with a standard deviation of 49.
        #expect(counts.allSatisfy { abs($0 - 4_000) < 300 }, "seed \(seed): \(counts)")
    }

    @Test(arguments: [5, 6])
    func `when a node goes, only the buckets that it held move`(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        let nodes = Self.nodes(6, &random)
        let (before, after) = (Rendezvous(nodes), Rendezvous(Array(nodes.dropLast())))
        for bucket in Self.buckets {
            let former = before.ranking(of: bucket).filter { $0 != 5 }
            #expect(former == after.ranking(of: bucket), "seed \(seed), bucket \(bucket.text)")
        }
    }

    @Test func `the order in which nodes are named does not matter`() {
        var random = SplitMix64(seed: 7)
        let nodes = Self.nodes(7, &random)
        let (one, other) = (Rendezvous(nodes), Rendezvous(nodes.reversed()))
        for bucket in Self.buckets.prefix(500) {
            #expect(one.ranking(of: bucket).map { 6 - $0 } == other.ranking(of: bucket))
        }
    }

    @Test func `the best nodes are those that the ranking begins with`() {
        var random = SplitMix64(seed: 8)
        let rendezvous = Rendezvous(Self.nodes(5, &random))
        for bucket in Self.buckets.prefix(500) {
            let ranking = rendezvous.ranking(of: bucket)
            for count in 0...6 {
                for node in 0..<5 {
                    #expect(
                        rendezvous.isAmong(count, node, for: bucket)
                            == ranking.prefix(count).contains(node))
                }
            }
        }
    }

    @Test func `hashes never change`() {
        let nodes = (1...4).map { UUIDBytes([UInt8](repeating: $0, count: 16))! }
        let rendezvous = Rendezvous(nodes)
        let rankings = ["shops", "users/alice/notes", "00"].map {
            rendezvous.ranking(of: BucketName(trusted: $0))
        }
        #expect(rankings == [[2, 1, 3, 0], [1, 3, 2, 0], [3, 2, 1, 0]])
    }
}
