import BackendContract
import NIOCore
import Objects
import Operations
import Runtime

/// The nodes that share the buckets, for callers that are on no event loop.
package final class OtherNodes: Sendable {
    private let links: NIOLoopBound<NodeLinks>
    private let eventLoop: any EventLoop
    let placement: any BucketPlacement

    /// Connections to the other nodes, on an event loop.
    ///
    /// - Parameter tls: how this node presents itself; nil for connections without TLS.
    package static func reached(
        over eventLoop: any EventLoop, as secret: NodeSecret, _ tls: TLSIdentity?,
        _ placement: any BucketPlacement, _ limits: Limits, _ clock: ServiceClock
    ) async throws -> OtherNodes {
        try await eventLoop.submit {
            OtherNodes(NodeLinks(placement, secret, tls, limits, clock, on: eventLoop))
        }.get()
    }

    private init(_ links: NodeLinks) {
        (eventLoop, placement) = (links.eventLoop, links.placement)
        self.links = NIOLoopBound(links, eventLoop: links.eventLoop)
        eventLoop.scheduleRepeatedTask(
            initialDelay: .seconds(1), delay: .seconds(1)
        ) { [weak links] task in
            if let links { links.look(now: links.clock.nanoseconds()) } else { task.cancel() }
        }
    }

    /// Passes a request on to a node that holds its bucket.
    func pass(_ passage: Passage, by caller: Caller, since begin: Int64) async -> Errand.End {
        await withCheckedContinuation { continuation in
            eventLoop.execute { [links] in
                Errand(passage, by: caller, over: links.value, since: begin) {
                    continuation.resume(returning: $0)
                }.start()
            }
        }
    }

    /// Asks every node that is alive, this one included; nil for a node that gave no answer.
    func ask(
        _ text: [UInt8], by caller: Caller
    ) async -> [(node: ClusterNode, answer: [UInt8]?)] {
        await withCheckedContinuation { continuation in
            eventLoop.execute { [links] in
                links.value.ask(text, by: caller) { continuation.resume(returning: $0) }
            }
        }
    }

    /// Tells the other nodes that a caller is gone.
    package func forget(_ caller: Caller) {
        eventLoop.execute { [links] in links.value.forget(caller) }
    }
}
