import BackendContract
import NIOCore
import Objects
import Runtime
import ServiceDesk

/// One request on its way to a node that holds its bucket. It asks one node after the other, those
/// first that ought to hold the bucket, and begins anew until one does or the time is over.
///
/// `@unchecked Sendable`: every member is used on the event loop only.
final class Forwarding: WorkUnderWay, @unchecked Sendable {
    private let request: ForwardedRequest
    private let caller: Caller
    private let links: NodeLinks
    private let deadline: Int64
    private let done: (ForwardingEnd) -> Void
    private var candidates: ArraySlice<ClusterNode> = []
    private var obstacle: String?
    private var pause: Int64 = 1_000_000
    private var isOver = false

    private static let longestPause: Int64 = 50_000_000

    /// - Parameters:
    ///   - begin: when the request's turn came, by the monotonic clock.
    ///   - done: called once, later.
    init(
        _ request: ForwardedRequest, by caller: Caller, over links: NodeLinks, since begin: Int64,
        _ done: @escaping @Sendable (ForwardingEnd) -> Void
    ) {
        self.request = request
        self.caller = caller
        self.links = links
        self.done = done
        deadline = begin + Int64(links.limits.queryMilliseconds) * 1_000_000
    }

    /// Begins, or begins anew.
    func start() {
        guard !isOver else { return }
        if let only = request.node {
            candidates = links.placement.nodes.filter { $0.id == only }[...]
            return askNext()
        }
        if links.placement.isHeld(request.bucket) { return end(.here) }
        obstacle = links.placement.obstacle(to: request.bucket) ?? obstacle
        candidates = ranked()[...]
        askNext()
    }

    /// Ends it, on any thread: `done` may still be called.
    func end() {
        links.eventLoop.execute { [self] in
            if !isOver { end(.failed(.clientGone)) }
        }
    }

    /// The other nodes in the order in which they are asked. Callers are spread over those that
    /// ought to hold the bucket; each keeps to the same one.
    private func ranked() -> [ClusterNode] {
        let nodes = links.placement.nodes(for: request.bucket)
        var first = nodes.prefix(links.placement.copies).filter { !$0.isSelf }
        let rest = nodes.dropFirst(links.placement.copies).filter { !$0.isSelf }
        if first.count > 1 {
            let shift = Int(caller.number % UInt64(first.count))
            first = Array(first[shift...] + first[..<shift])
        }
        return (first + rest).filter { !$0.nodeAddress.isEmpty }
    }

    private func askNext() {
        guard let node = candidates.popFirst() else { return wait() }
        links.link(to: node).call(request.text, by: caller) { [self] outcome in
            guard !isOver else { return }
            switch outcome {
            case .answered(let text): end(.answered(text, by: node.id))
            case .absent(let reason):
                obstacle = reason ?? obstacle
                askNext()
            case .lost(let wasSent):
                if request.node != nil { return end(.failed(.exportEnded)) }
                guard !wasSent || request.mayBeRepeated else {
                    return end(.failed(.unknownOutcome))
                }
                askNext()
            }
        }
    }

    /// Begins anew after a while: a node may have to notice that it ought to hold the bucket, and to
    /// load it.
    private func wait() {
        if request.node != nil { return end(.failed(.exportEnded)) }
        let now = links.clock.nanoseconds()
        guard now + pause < deadline else { return end(.failed(.nobody(obstacle, request.bucket))) }
        links.eventLoop.assumeIsolated().scheduleTask(in: .nanoseconds(pause)) { [self] in start() }
        pause = min(pause * 2, Self.longestPause)
    }

    private func end(_ end: ForwardingEnd) {
        isOver = true
        done(end)
    }
}

extension ServiceFailure {
    fileprivate static let unknownOutcome = ServiceFailure(
        .temporarilyUnavailable,
        "the node that carries out the write has gone away: the write may have been done; with a "
            + "requestKey it could be repeated safely")

    fileprivate static let clientGone = ServiceFailure(
        .temporarilyUnavailable, "the client is gone")

    fileprivate static let exportEnded = ServiceFailure(
        .temporarilyUnavailable,
        "the export has ended, because the node that it was under way on is gone; begin it anew")

    fileprivate static func nobody(_ obstacle: String?, _ bucket: BucketName) -> ServiceFailure {
        ServiceFailure(
            .temporarilyUnavailable,
            obstacle ?? "no node holds the bucket \"\(bucket.text)\" yet; nothing was done")
    }
}
