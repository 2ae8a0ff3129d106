import BackendContract
import NIOCore
import Objects
import Operations
import Runtime

/// The connections of one event loop to other nodes. Each is made when it is needed, and kept.
///
/// `@unchecked Sendable`: every member is used on the event loop only.
final class NodeLinks: @unchecked Sendable {
    let placement: any BucketPlacement
    let eventLoop: any EventLoop
    let limits: Limits
    let clock: ServiceClock
    private let secret: NodeSecret
    private let tls: TLSIdentity?
    private var links: [String: NodeLink] = [:]

    /// Whether there is none.
    var isEmpty: Bool { links.isEmpty }

    init(
        _ placement: any BucketPlacement, _ secret: NodeSecret, _ tls: TLSIdentity?,
        _ limits: Limits, _ clock: ServiceClock, on eventLoop: any EventLoop
    ) {
        self.placement = placement
        self.secret = secret
        self.tls = tls
        self.limits = limits
        self.clock = clock
        self.eventLoop = eventLoop
    }

    /// The connection to a node.
    func link(to node: ClusterNode) -> NodeLink {
        if let link = links[node.id] { return link }
        let link = NodeLink(to: node, secret, tls, clock, on: eventLoop) { [weak self] ended in
            if self?.links[node.id] === ended { self?.links[node.id] = nil }
        }
        links[node.id] = link
        return link
    }

    /// Asks every node that is alive, this one included.
    ///
    /// - Parameter done: called once with the answers, later; nil for a node that gave none.
    func ask(
        _ text: [UInt8], by caller: Caller,
        _ done: @escaping ([(node: ClusterNode, answer: [UInt8]?)]) -> Void
    ) {
        let nodes = placement.nodes
        var answers = nodes.map { (node: $0, answer: [UInt8]?.none) }
        var missing = nodes.count
        for (position, node) in nodes.enumerated() {
            link(to: node).call(text, by: caller) { outcome in
                if case .answered(let text) = outcome { answers[position].answer = text }
                missing -= 1
                if missing == 0 { done(answers) }
            }
        }
    }

    /// Tells the other nodes that a caller is gone.
    func forget(_ caller: Caller) { for link in links.values { link.forget(caller) } }

    /// Ends the connections to nodes that are dead, or that have been silent for too long.
    func look(now: Int64) {
        guard !isEmpty else { return }
        let alive = Set(placement.nodes.map(\.id))
        let timeout = Int64(limits.nodeTimeoutMilliseconds) * 1_000_000
        for (id, link) in links {
            if alive.contains(id) { link.look(now: now, timeout: timeout) } else { link.end() }
        }
    }
}
