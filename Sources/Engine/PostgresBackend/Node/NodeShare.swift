import BackendContract
import EmbeddedBackend
import Objects
import Runtime

/// The part of the buckets that one life of a node holds, and ought to hold.
final class NodeShare: Sendable {
    let held: HeldBuckets
    let membership: Membership
    private let look = Callback()

    init(_ held: HeldBuckets, _ membership: Membership) {
        self.held = held
        self.membership = membership
    }

    func connect(_ loader: BucketLoader) {
        look.set { [weak loader] in loader?.look() }
        membership.announcement.set { [weak loader] in loader?.look() }
    }

    /// What the node wants of the changes of others.
    ///
    /// - Parameter change: the last change that the node has.
    func filter(after change: ChangeNumber) -> ChangeFilter {
        let view = membership.view
        return held.filter(
            after: change,
            passed: { [self] in
                if membership.isOwn($0, in: view) { want($0) }
            })
    }

    /// Whether the node answers for a bucket. If it ought to and does not, it begins to load it.
    func answers(for bucket: BucketName) -> Bool {
        if held.holds(bucket) { return true }
        if membership.isOwn(bucket) { want(bucket, isUrgent: true) }
        return false
    }

    private func want(_ bucket: BucketName, isUrgent: Bool = false) {
        if held.want(bucket, isUrgent: isUrgent) { look() }
    }
}

/// Which nodes hold which buckets, as this node knows.
struct NodePlacement: BucketPlacement {
    let membership: Membership
    let connector: ClusterConnector
    /// Nil while the node is rebuilt.
    let share: @Sendable () -> NodeShare?

    var copies: Int { membership.copies }

    var nodes: [ClusterNode] { membership.view.described }

    func nodes(for bucket: BucketName) -> [ClusterNode] {
        let view = membership.view
        return view.ranking(of: bucket).map { view.described[$0] }
    }

    func isHeld(_ bucket: BucketName) -> Bool { share()?.answers(for: bucket) ?? false }

    func pin(_ bucket: BucketName) { membership.pin(bucket) }

    func unpin(_ bucket: BucketName) { membership.unpin(bucket) }

    func names(in scope: BucketScope) throws(ServiceFailure) -> [BucketName] {
        do throws(PostgresFailure) {
            // Lists are rare, so they have no connection of their own.
            let tables = try connector.connect(
                answerTime: .milliseconds(connector.limits.queryMilliseconds))
            return try tables.bucketNames(in: scope)
        } catch {
            throw ServiceFailure(StoreFailure(error))
        }
    }

    func withdraw() { membership.stop() }

    func obstacle(to bucket: BucketName) -> String? { share()?.held.refusal(of: bucket) }
}
