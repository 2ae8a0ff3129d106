import Objects

/// Which nodes of a cluster hold which buckets, as far as one of them knows. Nodes may disagree for
/// a while; that costs a request a detour or a wait.
public protocol BucketPlacement: Sendable {
    /// The number of nodes that are to hold each bucket.
    var copies: Int { get }

    /// The nodes that are alive, this one included.
    var nodes: [ClusterNode] { get }

    /// The nodes that are alive, those first that are to hold a bucket.
    func nodes(for bucket: BucketName) -> [ClusterNode]

    /// Whether this node can answer for a bucket. If it ought to and cannot, it begins to load it.
    func isHeld(_ bucket: BucketName) -> Bool

    /// Keeps a bucket on this node until `unpin` has been called as often, although it may be one that
    /// only others are to hold. It is loaded when it is asked for with `isHeld`.
    func pin(_ bucket: BucketName)

    /// Ends what one call of `pin` began.
    func unpin(_ bucket: BucketName)

    /// The buckets of a scope, whoever holds them. It may take as long as the store takes to answer.
    func names(in scope: BucketScope) throws(ServiceFailure) -> [BucketName]

    /// Tells the other nodes that this one stops. It goes on to answer for what it holds.
    func withdraw()

    /// Why this node cannot answer for a bucket, as a sentence for people; nil if nothing speaks
    /// against it but time.
    func obstacle(to bucket: BucketName) -> String?
}

/// A node of a cluster and its addresses.
public struct ClusterNode: Sendable, Hashable {
    /// Identifies the node, over its restarts too.
    public let id: String
    /// `HOST:PORT` for clients.
    public let clientAddress: String
    /// `HOST:PORT` for other nodes.
    public let nodeAddress: String
    /// Whether it is the node that says so.
    public let isSelf: Bool

    /// Stores its arguments.
    public init(id: String, clientAddress: String, nodeAddress: String, isSelf: Bool) {
        self.id = id
        self.clientAddress = clientAddress
        self.nodeAddress = nodeAddress
        self.isSelf = isSelf
    }
}

extension BucketPlacement {
    /// Whether this node is one of those that are to hold a bucket. One that is not lets it go before
    /// long, unless it is pinned.
    public func isToHold(_ bucket: BucketName) -> Bool {
        nodes(for: bucket).prefix(copies).contains(where: \.isSelf)
    }

    /// The nodes that serve watches which read some buckets: those that are to hold the first one or,
    /// if some of them are to hold all of the buckets, these. Such a node loads what it lacks.
    public func watchNodes(of buckets: [BucketName]) -> [ClusterNode] {
        let holders = buckets.map { nodes(for: $0).prefix(copies) }
        guard let first = holders.first else { return [] }
        let common = first.filter { node in holders.allSatisfy { $0.contains(node) } }
        return common.isEmpty ? Array(first) : common
    }
}

extension Backend {
    /// Nil: this back end has every bucket.
    public var placement: (any BucketPlacement)? { nil }
}

extension ServiceFailure {
    /// The refusal of a request for a bucket that the node has let go meanwhile.
    public static func notHeld(_ bucket: BucketName) -> ServiceFailure {
        ServiceFailure(
            .temporarilyUnavailable,
            "this node no longer holds the bucket \"\(bucket.text)\"; nothing was done, try again",
            retryAfterMilliseconds: 100)
    }
}
