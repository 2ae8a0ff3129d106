import Foundation
import QueryServer

/// How a node that holds a part of the buckets is found by clients and other nodes.
struct Neighbourhood {
    /// By which the nodes know each other.
    let secret: NodeSecret
    /// Where clients reach the node; nil for where it listens.
    let clients: Address?
    /// Where other nodes reach it; nil for where clients do.
    let nodes: Address?

    /// The addresses of a node that listens on an address.
    func addresses(listeningOn bound: Address) -> (client: String, peer: String) {
        let own = clients ?? Self.reachable(bound)
        return ("\(own)", "\(nodes ?? own)")
    }

    /// An address that stands for all of the machine's is given by the machine's name.
    private static func reachable(_ bound: Address) -> Address {
        guard ["0.0.0.0", "::"].contains(bound.host) else { return bound }
        return Address(host: ProcessInfo.processInfo.hostName, port: bound.port)
    }
}
