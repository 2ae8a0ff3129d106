import BackendContract
import Logging
import Objects
import Runtime
import Synchronization

/// The nodes that are alive, as the table `node` tells, and which of them are to hold a bucket. It
/// announces this node once a second. It outlives the lives of a node.
///
/// `@unchecked Sendable`: only the thread accesses what is neither constant nor under a lock.
final class Membership: @unchecked Sendable {
    /// The nodes that are alive at a time, this one included.
    struct View: Sendable {
        let nodes: [ClusterTables.Node]
        /// The same, for the layers above.
        let described: [ClusterNode]
        /// The position of this node.
        let own: Int
        private let rendezvous: Rendezvous

        init(_ others: [ClusterTables.Node], _ own: ClusterTables.Node) {
            nodes = others.filter { $0.id != own.id } + [own]
            self.own = nodes.count - 1
            described = nodes.map {
                ClusterNode(
                    id: $0.id.text, clientAddress: $0.client, nodeAddress: $0.peer,
                    isSelf: $0.id == own.id)
            }
            rendezvous = Rendezvous(nodes.map(\.id))
        }

        /// The positions of the nodes, those first that are to hold a bucket.
        func ranking(of bucket: BucketName) -> [Int] { rendezvous.ranking(of: bucket) }

        /// Whether this node is to hold a bucket.
        func isOwn(_ bucket: BucketName, copies: Int) -> Bool {
            rendezvous.isAmong(copies, own, for: bucket)
        }
    }

    private struct State {
        var view: View
        var version = 0
    }

    /// Identifies this node.
    let id: UUIDBytes
    let copies: Int
    private let connector: ClusterConnector
    private let logger: Logger
    private let thread = WorkThread("nodes")
    private let state: Mutex<State>
    /// How often buckets are pinned to this node.
    private let pins = Mutex<[BucketName: Int]>([:])
    private let isStopped = Atomic(false)
    /// Called on this object's thread after each announcement, also one that has failed.
    let announcement = Callback()
    /// The buckets that this node still has to load.
    let loading = Atomic(0)
    private var announced: ClusterTables.Node?
    private var tables: ClusterTables?
    private var lastBeat: MonotonicTime
    /// Until when nobody is taken for dead; see `beat`.
    private var amnesty: MonotonicTime?
    private var isFailing = false

    private static let interval = Duration.seconds(1)

    /// - Parameter others: the nodes that are alive now.
    init(
        id: UUIDBytes, copies: Int, others: [ClusterTables.Node], _ connector: ClusterConnector,
        _ logger: Logger
    ) {
        self.id = id
        self.copies = copies
        self.connector = connector
        lastBeat = connector.clock.now
        self.logger = logger
        let own = ClusterTables.Node(id: id, client: "", peer: "")
        state = Mutex(State(view: View(others, own)))
    }

    /// The nodes that are alive.
    var view: View { state.withLock { $0.view } }

    /// Changes whenever a node comes or goes.
    var version: Int { state.withLock { $0.version } }

    /// Whether this node is to hold a bucket, as one of its nodes or because it is pinned.
    func isOwn(_ bucket: BucketName) -> Bool { isOwn(bucket, in: view) }

    /// As `isOwn(_:)`, for several buckets of one view.
    func isOwn(_ bucket: BucketName, in view: View) -> Bool {
        isPinned(bucket) || view.isOwn(bucket, copies: copies)
    }

    /// Keeps a bucket on this node.
    func pin(_ bucket: BucketName) { pins.withLock { $0[bucket, default: 0] += 1 } }

    /// Ends what one call of `pin` began.
    func unpin(_ bucket: BucketName) {
        pins.withLock { pins in
            let left = pins[bucket, default: 1] - 1
            pins[bucket] = left > 0 ? left : nil
        }
    }

    /// Whether a bucket stays on this node, whichever nodes are to hold it.
    func isPinned(_ bucket: BucketName) -> Bool { pins.withLock { $0[bucket] != nil } }

    /// The buckets that are pinned.
    var pinned: [BucketName] { pins.withLock { Array($0.keys) } }

    /// Whether every node that is to hold a bucket has loaded all that it has to.
    func isSettled(_ bucket: BucketName) -> Bool {
        let view = view
        return view.ranking(of: bucket).prefix(copies).allSatisfy { view.nodes[$0].loading == 0 }
    }

    /// Begins to announce this node.
    func start(client: String, peer: String) {
        thread.async { [self] in
            let isFirst = announced == nil
            announced = ClusterTables.Node(id: id, client: client, peer: peer)
            if isFirst { step() }
        }
    }

    /// Takes this node off the table, if PostgreSQL answers at once.
    func stop() {
        isStopped.store(true, ordering: .relaxed)
        thread.sync {
            if announced != nil { try? tables?.remove(id) }
            tables = nil
        }
    }

    private func step() {
        guard !isStopped.load(ordering: .relaxed) else { return }
        do throws(PostgresFailure) {
            try beat()
            note(nil)
        } catch {
            tables = nil
            note(error)
        }
        announcement()
        thread.async(after: Self.interval) { [weak self] in self?.step() }
    }

    private func beat() throws(PostgresFailure) {
        guard var own = announced else { return }
        own.loading = loading.load(ordering: .relaxed)
        let milliseconds = connector.limits.nodeTimeoutMilliseconds
        let timeout = Duration.milliseconds(milliseconds)
        let tables = try connector.connected(&self.tables, answerTime: timeout)
        let alive = try tables.beat(own, timeout: milliseconds)
        let now = connector.clock.now
        // If this node could not announce itself, perhaps nobody could. Others get the time to.
        if lastBeat.duration(to: now) >= timeout { amnesty = now.advanced(by: timeout) }
        lastBeat = now
        take(alive, own, isLenient: amnesty.map { now < $0 } ?? false)
    }

    private func take(_ alive: [ClusterTables.Node], _ own: ClusterTables.Node, isLenient: Bool) {
        let change = state.withLock { state -> (before: Int, after: Int)? in
            let former = state.view
            let missing = former.nodes.filter { node in !alive.contains { $0.id == node.id } }
            let view = View(isLenient ? alive + missing : alive, own)
            state.view = view
            guard Set(view.nodes.map(\.id)) != Set(former.nodes.map(\.id)) else { return nil }
            state.version += 1
            return (former.nodes.count, view.nodes.count)
        }
        guard let change else { return }
        logger.notice(
            "nodes have come or gone",
            metadata: [
                "before": .stringConvertible(change.before),
                "now": .stringConvertible(change.after),
            ])
    }

    /// Logs when the announcements begin to fail or succeed again.
    private func note(_ failure: PostgresFailure?) {
        guard isFailing != (failure != nil) else { return }
        isFailing = failure != nil
        if let failure {
            logger.warning(
                "this node cannot announce itself", metadata: ["reason": "\(failure)"])
        } else {
            logger.notice("this node announces itself again")
        }
    }
}

extension UUIDBytes {
    /// The hexadecimal digits.
    var text: String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}
