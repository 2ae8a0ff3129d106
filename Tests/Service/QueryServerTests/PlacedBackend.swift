import BackendContract
import Objects
import Synchronization

/// A node of a cluster whose other nodes are as the test says. Its reads find nothing.
final class PlacedBackend: IdleBackend {
    let placement: (any BucketPlacement)?
    /// Whether it can answer.
    var isReady: Bool { ready.withLock { $0 } }
    private let ready = Mutex(true)

    init(_ placement: any BucketPlacement) { self.placement = placement }

    func set(isReady: Bool) { ready.withLock { $0 = isReady } }
}

/// Who holds which bucket, as a test says.
final class TestPlacement: BucketPlacement {
    private struct State {
        var order: [String: [ClusterNode]] = [:]
        var held: Set<String> = []
    }

    let copies: Int
    let nodes: [ClusterNode]
    private let state: Mutex<State>

    /// - Parameters:
    ///   - addresses: of the nodes; the first is this one.
    ///   - held: the buckets that this node can answer for.
    init(copies: Int = 1, _ addresses: [String], held: Set<String> = []) {
        self.copies = copies
        nodes = addresses.enumerated().map {
            ClusterNode(id: "n\($0)", clientAddress: $1, nodeAddress: $1, isSelf: $0 == 0)
        }
        state = Mutex(State(held: held))
    }

    /// Says which nodes are to hold a bucket, by their numbers, and whether this one does.
    func place(_ bucket: String, on order: [Int], isHeld: Bool) {
        let nodes = order.map { self.nodes[$0] }
        state.withLock { state in
            state.order[bucket] = nodes
            if isHeld { state.held.insert(bucket) } else { state.held.remove(bucket) }
        }
    }

    func nodes(for bucket: BucketName) -> [ClusterNode] {
        state.withLock { $0.order[bucket.text] } ?? nodes
    }

    func isHeld(_ bucket: BucketName) -> Bool { state.withLock { $0.held.contains(bucket.text) } }

    func names(in scope: BucketScope) -> [BucketName] {
        state.withLock { $0.order.keys.map(BucketName.init(trusted:)) }
            .filter { $0.scope == scope }
    }

    func pin(_ bucket: BucketName) {}

    func unpin(_ bucket: BucketName) {}

    func withdraw() {}

    func obstacle(to bucket: BucketName) -> String? { nil }
}
