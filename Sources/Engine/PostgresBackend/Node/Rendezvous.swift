import Objects

/// Which nodes are to hold a bucket: those with the highest hash of bucket and node. Every node
/// finds the same ones by itself. If a node comes or goes, only buckets that it is to hold move.
///
///     Rendezvous(nodes).ranking(of: shops).prefix(2)      // the positions of two nodes
///
/// - Reference: Thaler and Ravishankar, "Using Name-Based Mappings to Increase Hit Rates",
///   IEEE/ACM Transactions on Networking 6(1), 1998.
/// - Note: All nodes must compute the same hashes, so these never change.
struct Rendezvous: Sendable {
    private let hashes: [UInt64]

    /// - Parameter nodes: the ids of the nodes, in any order.
    init(_ nodes: [UUIDBytes]) { hashes = nodes.map { Self.mixed(Self.hash($0.bytes)) } }

    /// The positions of the nodes, the best one first.
    ///
    /// - Complexity: O(n log n) of n nodes.
    func ranking(of bucket: BucketName) -> [Int] {
        let weights = weights(of: bucket)
        return weights.indices.sorted { (weights[$0], $1) > (weights[$1], $0) }
    }

    /// Whether the node at a position is one of the best `count`.
    ///
    /// - Complexity: O(n) of n nodes.
    func isAmong(_ count: Int, _ position: Int, for bucket: BucketName) -> Bool {
        let weights = weights(of: bucket)
        let own = weights[position]
        return weights.enumerated().count { $1 > own || $1 == own && $0 < position } < count
    }

    private func weights(of bucket: BucketName) -> [UInt64] {
        let hash = Self.hash(bucket.text.utf8)
        return hashes.map { Self.mixed(hash ^ $0) }
    }

    /// FNV-1a.
    private static func hash(_ bytes: some Sequence<UInt8>) -> UInt64 {
        bytes.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
    }

    /// The finalizer of MurmurHash3, in which every bit of the argument changes half of the result.
    private static func mixed(_ value: UInt64) -> UInt64 {
        var value = value
        value = (value ^ value >> 33) &* 0xFF51_AFD7_ED55_8CCD
        value = (value ^ value >> 33) &* 0xC4CE_B9FE_1A85_EC53
        return value ^ value >> 33
    }
}
