import BackendContract
import Objects

/// The nodes that share the buckets with this one.
package protocol OtherNodes: AnyObject, Sendable {
    /// Which nodes hold which buckets.
    var placement: any BucketPlacement { get }

    /// Forwards a request to a node that holds its bucket.
    ///
    /// - Parameter done: called once, later, unless what is under way is ended before.
    func forward(
        _ request: ForwardedRequest, by caller: Caller, since begin: Int64,
        _ done: @escaping @Sendable (ForwardingEnd) -> Void
    ) -> any WorkUnderWay

    /// Asks every node that is alive, this one included.
    ///
    /// - Parameter done: called once with the answers, later; nil for a node that gave none.
    func ask(
        _ text: [UInt8], by caller: Caller, _ done: @escaping @Sendable ([NodeAnswer]) -> Void)

    /// Runs `body` after a while, where `ask` may be called.
    func execute(after pause: Duration, _ body: @escaping @Sendable () -> Void)

    /// Tells the other nodes that a caller is gone.
    func forget(_ caller: Caller)
}

/// A node's answer to a request, as it would be sent to a client; nil if it gave none.
package typealias NodeAnswer = (node: ClusterNode, answer: [UInt8]?)

/// An admitted request for a bucket that this node does not hold.
package struct ForwardedRequest: Sendable {
    /// The bucket.
    package let bucket: BucketName
    /// The request as it came, or as the line protocol would have it.
    package let text: [UInt8]
    /// Whether it may be sent again after its answer was lost.
    package let mayBeRepeated: Bool
    /// Whether it begins an export, which goes on at the same node.
    package var beginsExport = false
    /// The id of the one node that can carry it out; nil for any that holds the bucket.
    package var node: String?

    package init(
        bucket: BucketName, text: [UInt8], mayBeRepeated: Bool, beginsExport: Bool = false,
        node: String? = nil
    ) {
        (self.bucket, self.text, self.mayBeRepeated) = (bucket, text, mayBeRepeated)
        (self.beginsExport, self.node) = (beginsExport, node)
    }
}

/// What became of a forwarded request.
package enum ForwardingEnd: Sendable {
    /// This node holds the bucket by now.
    case here
    /// The text that the client gets, and the id of the node that gave it.
    case answered([UInt8], by: String)
    case failed(ServiceFailure)
}
