import BackendContract
import EmbeddedBackend
import Logging
import Objects
import Runtime
import Synchronization

/// Loads the buckets that a node is to hold, and lets go of the others, in one life of the node.
///
/// A bucket is copied at a state of its own while the node goes on. Then, between two writes, one
/// look at PostgreSQL leads both to the same state. From then on the bucket is followed, and answers.
///
/// It looks at what has to be done whenever a bucket is wanted, and at each announcement of the node,
/// once a second. What has failed is tried again at the next one.
///
/// `@unchecked Sendable`: only the thread accesses what is neither constant nor atomic.
final class BucketLoader: @unchecked Sendable {
    private let connector: ClusterConnector
    private let membership: Membership
    private let held: HeldBuckets
    private let applied: AppliedState
    private let backend: SQLiteBackend
    private let steps: FollowingSteps
    private let logger: Logger
    private let diverged: @Sendable (Divergence) -> Void
    private let thread = WorkThread("buckets", .background)
    private let interrupt = Interrupt()
    /// Whether a look is about to begin.
    private let isLookDue = Atomic(false)
    private var tables: ClusterTables?
    private var revised: Int?
    private var nextTrim = MonotonicTime(nanoseconds: .min)
    private var isFailing = false

    /// The objects that the writer's thread adds at once.
    private static let objectsAtOnce = 500
    /// The buckets that are copied at once.
    private static let bucketsAtOnce = 32
    /// The time after which a bucket that did not fit is tried again.
    private static let refusal = Duration.seconds(60)
    /// The time between two looks for what is held and not needed.
    private static let trimInterval = Duration.seconds(60)

    init(
        _ connector: ClusterConnector, _ membership: Membership, _ held: HeldBuckets,
        _ applied: AppliedState, of backend: SQLiteBackend, _ steps: FollowingSteps,
        logger: Logger, diverged: @escaping @Sendable (Divergence) -> Void
    ) {
        self.connector = connector
        self.membership = membership
        self.held = held
        self.applied = applied
        self.backend = backend
        self.steps = steps
        self.logger = logger
        self.diverged = diverged
    }

    /// Does what has to be done.
    func look() {
        guard !isLookDue.exchange(true, ordering: .relaxed) else { return }
        thread.async { [self] in
            isLookDue.store(false, ordering: .relaxed)
            attempt {
                try revise()
                try loadWanted()
                try letGo()
            }
        }
    }

    /// Returns when nothing is loaded or removed any more, and ends the connection.
    func stop() {
        interrupt.raise()
        thread.sync { tables = nil }
    }

    private func attempt(_ body: () throws -> Void) {
        guard !interrupt.isRaised else { return }
        do {
            try body()
            note(nil)
        } catch {
            tables = nil
            note("\(error)")
        }
    }

    /// Looks at all buckets when nodes have come or gone.
    private func revise() throws {
        let version = membership.version
        guard version != revised else { return }
        let view = membership.view
        let names = try connector.connected(&tables).buckets().map(\.name)
        held.revise { membership.isOwn($0, in: view) }
        for name in names + membership.pinned where membership.isOwn(name, in: view) {
            _ = held.want(name)
        }
        revised = version
    }

    /// Tells other nodes how much is left to do.
    private func noteLoading() {
        membership.loading.store(held.loading, ordering: .relaxed)
    }

    // MARK: In

    private func loadWanted() throws {
        while !interrupt.isRaised {
            noteLoading()
            // Whether the next one fits is known when this one is there.
            let names = held.takeWanted(
                atMost: connector.limits.heldBytes > 0 ? 1 : Self.bucketsAtOnce)
            guard !names.isEmpty else { return }
            do {
                let fitting = try names.filter(fits)
                if !fitting.isEmpty { try load(fitting) }
            } catch {
                // After a stop the next start removes what there is.
                guard !interrupt.isRaised else { return }
                for name in names where !held.holds(name) { try? backend.remove(name) }
                held.failed(names)
                throw error
            }
        }
    }

    private func load(_ names: [BucketName]) throws {
        let tables = try connector.connected(&self.tables)
        // What an attempt that failed has left.
        for name in names { try backend.remove(name) }
        try backend.remember(NodeCache.list(names), as: NodeCache.incomplete)
        let copied = try tables.copy(only: names, atOnce: Self.objectsAtOnce) { part in
            guard !interrupt.isRaised else { throw Stopped() }
            if case .changes(let piece) = part { try backend.add(piece) }
        }
        try tables.release()
        for name in names {
            try backend.noteForgottenDeletions(in: name, upTo: copied.shared.state.change)
        }
        let present = try catchUp(names, copied, tables)
        try steps.alone { try join(names, present, tables) }
        try backend.remember(NodeCache.list([]), as: NodeCache.incomplete)
    }

    private struct Stopped: Error {}

    /// Takes over what was written to the copied buckets meanwhile, until it is so little that the
    /// writer can wait for the rest, or does not become less.
    ///
    /// - Returns: the state that the buckets have then.
    private func catchUp(
        _ names: [BucketName], _ copied: ClusterTables.Tail, _ tables: ClusterTables
    ) throws -> ClusterTables.Tail {
        let joining = Set(names)
        var (reached, most) = (copied, Int.max)
        while true {
            let state = reached.shared.state
            let filter = ChangeFilter(
                isWanted: { joining.contains($0) && $1 > state.change }, passed: { _ in })
            guard try tables.tail(after: state.change, reached.batch, filter).isTooLong
            else { return reached }
            let tail = try tables.longTail(
                after: state.change, reached.batch, filter, unless: interrupt)
            // A history that has ended is found when the buckets join.
            guard tail.divergence(from: state) == nil else { return reached }
            let changes = tail.changes
            try add(changes)
            reached = tail
            let count =
                changes.objects.count + changes.tombstones.count + changes.deletions.count
            guard count > Self.objectsAtOnce, count <= most / 2 else { return reached }
            most = count
        }
    }

    /// Adds changes piece by piece.
    private func add(_ changes: StoreChanges) throws {
        var names = changes
        (names.tombstones, names.deletions, names.objects) = ([], [], [])
        let none = StoreChanges(after: changes.change)
        func add(_ piece: StoreChanges) throws {
            guard !interrupt.isRaised else { throw Stopped() }
            try backend.add(piece)
        }
        for piece in changes.tombstones.pieces(of: Self.objectsAtOnce) {
            var part = none
            part.tombstones = Array(piece)
            try add(part)
        }
        for deletion in changes.deletions {
            var part = none
            part.deletions = [deletion]
            try add(part)
        }
        if !names.isEmpty { try add(names) }
        for piece in changes.objects.pieces(of: Self.objectsAtOnce) {
            var part = none
            part.objects = Array(piece)
            try add(part)
        }
    }

    /// Leads the node and the copied buckets to one state.
    private func join(
        _ names: [BucketName], _ copied: ClusterTables.Tail, _ tables: ClusterTables
    ) throws {
        let joining = Set(names)
        let begin = connector.clock.now
        var head: ChangeNumber = 0
        try backend.join(
            { [held, applied] in
                let copy = copied.shared.state
                let (now, past) = try tables.head(after: copy.change, copied.batch)
                if let divergence = Divergence(of: copy, from: now, past) {
                    // PostgreSQL may still have the node's own state, so the follower cannot tell.
                    if case .loss = divergence { diverged(divergence) }
                    throw StoreFailure.diverged("\(divergence)")
                }
                let state = applied.reached
                let filter = held.filter(after: state.change) { bucket, change in
                    joining.contains(bucket) ? change > copy.change : nil
                }
                let tail = try tables.wholeTail(
                    after: min(state.change, copy.change), state.stateMark?.batch, filter)
                if let divergence = tail.divergence(from: state) {
                    diverged(divergence)
                    throw StoreFailure.diverged("\(divergence)")
                }
                head = tail.head.change
                return tail.shared.split { joining.contains($0) }
            }, then: { held.joined(names) })
        applied.see(head, at: begin)
    }

    /// Whether a bucket fits into the memory that it may take; it is refused if not.
    private func fits(_ bucket: BucketName) throws -> Bool {
        guard connector.limits.heldBytes > 0 else { return true }
        let (objects, idBytes, pointBytes) = try connector.connected(&tables).size(of: bucket)
        let bytes = Int(
            objects * Self.objectBytes + idBytes + pointBytes / Self.storedPointBytes
                * Self.pointBytes)
        let present = backend.heldBytes
        if present + bytes <= connector.limits.heldBytes { return true }
        let reason =
            "the bucket \"\(bucket.text)\" with its \(objects) objects would take some \(bytes) "
            + "bytes; this node has \(present) in use of the \(connector.limits.heldBytes) that it may "
            + "(heldBytes)"
        logger.error("a bucket is not loaded", metadata: ["reason": "\(reason)"])
        held.refuse(bucket, reason, for: Self.refusal)
        return false
    }

    /// The memory of an object beside its id and points, and of a point; see "Memory" in
    /// `docs/architecture.md`.
    private static let objectBytes: Int64 = 28
    private static let pointBytes: Int64 = 59
    private static let storedPointBytes: Int64 = 20

    // MARK: Out

    private func letGo() throws {
        trim()
        let grace = Duration.milliseconds(2 * connector.limits.nodeTimeoutMilliseconds)
        for bucket in held.leaving(for: grace) where membership.isSettled(bucket) {
            guard !interrupt.isRaised else { return }
            try backend.remember(NodeCache.list([bucket]), as: NodeCache.incomplete)
            try steps.alone {
                try backend.remove(bucket) {
                    held.release(bucket, unless: membership.isPinned)
                }
            }
            try backend.remember(NodeCache.list([]), as: NodeCache.incomplete)
        }
    }

    /// Lets go of what nobody needs here any more: names that no bucket has, which would be loaded
    /// again, and buckets of other nodes that were pinned.
    private func trim() {
        let now = connector.clock.now
        guard now >= nextTrim else { return }
        nextTrim = now.advanced(by: Self.trimInterval)
        let view = membership.view
        held.leave { bucket in
            !membership.isPinned(bucket)
                && !(backend.has(bucket) && view.isOwn(bucket, copies: membership.copies))
        }
    }

    /// Logs when loading begins to fail or succeeds again.
    private func note(_ failure: String?) {
        guard isFailing != (failure != nil) else { return }
        isFailing = failure != nil
        if let failure {
            logger.warning("buckets are not loaded for now", metadata: ["reason": "\(failure)"])
        } else {
            logger.notice("buckets are loaded again")
        }
    }
}

extension Array {
    /// Slices of at most so many elements, in order.
    fileprivate func pieces(of count: Int) -> [ArraySlice<Element>] {
        stride(from: 0, to: self.count, by: count).map {
            self[$0..<Swift.min($0 + count, self.count)]
        }
    }
}

/// What the follower does, and what changes which buckets it has to follow, do not overlap.
final class FollowingSteps: Sendable {
    private let lock = Mutex(())

    func alone(_ body: () throws -> Void) throws { try lock.withLock { _ in try body() } }
}

extension HeldBuckets {
    /// What a node wants of the changes of others.
    ///
    /// - Parameters:
    ///   - change: the last change that the node has.
    ///   - exception: decides for some buckets; nil for the others.
    ///   - passed: called with buckets in which something has changed that is not wanted.
    func filter(
        after change: ChangeNumber,
        except exception: @escaping (BucketName, ChangeNumber) -> Bool? = { _, _ in nil },
        passed: @escaping (BucketName) -> Void = { _ in }
    ) -> ChangeFilter {
        ChangeFilter(
            isWanted: { [self] in exception($0, $1) ?? ($1 > change && holds($0)) },
            passed: passed)
    }
}

extension SharedChanges {
    /// Splits off the changes of some buckets.
    func split(
        _ isTheirs: (BucketName) -> Bool
    ) -> (own: SharedChanges, theirs: StoreChanges) {
        var (own, theirs) = (changes, StoreChanges(after: changes.change))
        theirs.tombstones = changes.tombstones.filter { isTheirs($0.bucket) }
        theirs.deletions = changes.deletions.filter { isTheirs($0.bucket) }
        theirs.deletedBuckets = changes.deletedBuckets.filter { isTheirs($0.name) }
        theirs.buckets = changes.buckets.filter { isTheirs($0.name) }
        theirs.objects = changes.objects.filter { isTheirs($0.bucket) }
        own.tombstones.removeAll { isTheirs($0.bucket) }
        own.deletions.removeAll { isTheirs($0.bucket) }
        own.deletedBuckets.removeAll { isTheirs($0.name) }
        own.buckets.removeAll { isTheirs($0.name) }
        own.objects.removeAll { isTheirs($0.bucket) }
        return (SharedChanges(to: state, by: own), theirs)
    }
}
