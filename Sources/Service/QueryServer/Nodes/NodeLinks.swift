import BackendContract
import NIOCore
import Objects
import Runtime
import ServiceDesk

/// The connections of one event loop to other nodes. Each is made when it is needed, and kept.
///
/// `@unchecked Sendable`: what is not said to be called on any thread is used on the event loop only.
package final class NodeLinks: OtherNodes, @unchecked Sendable {
    package let placement: any BucketPlacement
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

    /// Connections to other nodes from an event loop of a port that asks them in tasks.
    package static func reached(
        over eventLoop: any EventLoop, as secret: NodeSecret, _ tls: TLSIdentity?,
        _ placement: any BucketPlacement, _ limits: Limits, _ clock: ServiceClock
    ) -> NodeLinks {
        let links = NodeLinks(placement, secret, tls, limits, clock, on: eventLoop)
        eventLoop.scheduleRepeatedTask(
            initialDelay: .seconds(1), delay: .seconds(1)
        ) { [weak links] task in
            if let links { links.check(now: clock.nanoseconds()) } else { task.cancel() }
        }
        return links
    }

    // MARK: On any thread

    package func forward(
        _ request: ForwardedRequest, by caller: Caller, since begin: Int64,
        _ done: @escaping @Sendable (ForwardingEnd) -> Void
    ) -> any WorkUnderWay {
        let forwarding = Forwarding(request, by: caller, over: self, since: begin, done)
        onLoop { forwarding.start() }
        return forwarding
    }

    package func ask(
        _ text: [UInt8], by caller: Caller, _ done: @escaping @Sendable ([NodeAnswer]) -> Void
    ) {
        onLoop { [self] in
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
    }

    package func execute(after pause: Duration, _ body: @escaping @Sendable () -> Void) {
        eventLoop.scheduleTask(in: TimeAmount(pause), body)
    }

    package func forget(_ caller: Caller) {
        onLoop { [self] in for link in links.values { link.forget(caller) } }
    }

    private func onLoop(_ body: @escaping @Sendable () -> Void) {
        if eventLoop.inEventLoop { body() } else { eventLoop.execute(body) }
    }

    // MARK: Watching

    /// Ends the connections to nodes that are dead, or that have been silent for too long.
    func check(now: Int64) {
        guard !isEmpty else { return }
        let alive = Set(placement.nodes.map(\.id))
        let timeout = Int64(limits.nodeTimeoutMilliseconds) * 1_000_000
        for (id, link) in links {
            if alive.contains(id) { link.check(now: now, timeout: timeout) } else { link.end() }
        }
    }
}
