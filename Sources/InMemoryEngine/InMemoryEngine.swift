import Backend
import Dispatch
import Geodesy
import HashTreeCollections
import JSONText
import Objects
import QueryLanguage
import SpatialIndex
import Synchronization

/// The buckets in memory: snapshots that readers query, and the one writer's way to the next one.
///
/// Everything here derives from the store and can be rebuilt from it. Readers take the current
/// snapshot under a lock held for some nanoseconds and need no lock afterwards.
public final class InMemoryEngine: Sendable {
    let limits: Limits
    let keys: PageKeyCodec
    let cache: DocumentCache
    let parsers = ParserPool()
    private let source: any DocumentSource
    private let current: Mutex<Snapshot>
    private let merges: BackgroundMerges

    /// - Parameters:
    ///   - secret: authenticates page keys; the same after a restart.
    ///   - source: where documents come from that are not cached.
    ///   - mergeReady: called on some thread when a background merge waits for `installMerges`.
    public init(
        limits: Limits, secret: [UInt8], source: any DocumentSource,
        mergeReady: @escaping @Sendable () -> Void = {}
    ) {
        self.limits = limits
        self.source = source
        keys = PageKeyCodec(secret: secret)
        cache = DocumentCache(capacityBytes: limits.documentCacheBytes)
        current = Mutex(Snapshot(change: 0, buckets: [:], objects: 0, points: 0))
        merges = BackgroundMerges(ready: mergeReady)
    }

    var snapshot: Snapshot { current.withLock { $0 } }

    // MARK: The writer's side. One thread at a time.

    /// Replaces everything by the objects that `feed` gives, in the order of creation.
    public func load(
        buckets: [BucketName], change: ChangeNumber,
        _ feed: ((ObjectChange) throws -> Void) throws -> Void
    ) rethrows {
        var builders: [BucketName: BucketState.Builder] = [:]
        for bucket in buckets { builders[bucket] = BucketState.Builder() }
        try feed { builders[$0.bucket, default: BucketState.Builder()].add($0) }
        var table = TreeDictionary<BucketName, BucketBox>()
        var (objects, points) = (0, 0)
        for name in Array(builders.keys) {
            let state = builders.removeValue(forKey: name)!.build()
            objects += state.count
            points += state.points
            table[name] = BucketBox(state)
        }
        publish(Snapshot(change: change, buckets: table, objects: objects, points: points))
    }

    /// Keeps a document that the transaction under way replaces or deletes, for the readers of the
    /// present state. To be called before the commit.
    public func supersede(_ document: [UInt8], change: ChangeNumber) {
        snapshot.superseded.keep(document, change: change)
    }

    /// Makes committed changes visible, all at once.
    ///
    /// - Parameter documents: the new documents as clients read them.
    public func apply(
        _ changes: [Change], upTo change: ChangeNumber,
        documents: [(creation: ChangeNumber, change: ChangeNumber, text: [UInt8])]
    ) {
        var next = Successor(snapshot)
        for change in changes { next.apply(change, cache: cache) }
        next.install(merges.finished())
        for document in documents {
            cache.put(document.text, creation: document.creation, change: document.change)
        }
        finish(next, change: change)
    }

    /// Puts finished background merges in place.
    public func installMerges() {
        var next = Successor(snapshot)
        next.install(merges.finished())
        finish(next, change: snapshot.change)
    }

    private func finish(_ next: Successor, change: ChangeNumber) {
        let published = next.snapshot(change: change)
        publish(published)
        for name in next.touched.keys {
            guard let state = published.bucket(name) else { continue }
            for (field, index) in state.fields { merges.start(index, field: field, bucket: name) }
        }
    }

    private func publish(_ next: Snapshot) {
        current.withLock { current in
            current.superseded.end(next: next.superseded)
            current = next
        }
    }

    // MARK: The readers' side.

    /// The document of an object as a snapshot has it.
    func document(
        creation: ChangeNumber, change: ChangeNumber, in snapshot: Snapshot
    ) throws(ServiceFailure) -> [UInt8] {
        if let cached = cache.document(creation: creation, change: change) { return cached }
        if let stored = try source.document(creation: creation), stored.change == change {
            try checkIsJSON(stored.text)
            cache.put(stored.text, creation: creation, change: change)
            return stored.text
        }
        if let kept = snapshot.superseded.document(change: change) { return kept }
        throw ServiceFailure(
            .undefined, "the document of change \(change) is neither stored nor kept")
    }

    /// A damaged row must not become a line that is no JSON.
    private func checkIsJSON(_ document: [UInt8]) throws(ServiceFailure) {
        try parsers.withParser { parser throws(ServiceFailure) in
            do throws(JSONSyntaxError) {
                _ = try parser.parse(document)
            } catch {
                throw ServiceFailure(
                    .undefined, "a stored document is not JSON: \(error.message)")
            }
        }
    }
}

/// The next snapshot in the making.
private struct Successor {
    private let base: Snapshot
    private var buckets: TreeDictionary<BucketName, BucketBox>
    private(set) var touched: [BucketName: BucketState] = [:]
    private var objects: Int
    private var points: Int

    init(_ base: Snapshot) {
        self.base = base
        buckets = base.buckets
        objects = base.objects
        points = base.points
    }

    mutating func apply(_ change: Change, cache: DocumentCache) {
        switch change {
        case .upsert(let object): modify(object.bucket) { $0.apply(object) }
        case .delete(let bucket, let creation):
            modify(bucket) { $0.delete(created: creation) }
            cache.remove(creation: creation)
        case .deleteBucket(let name):
            modify(name) { state in
                for slot in 0..<state.slotCount where state.records[slot].isAlive {
                    cache.remove(creation: state.records[slot].creation)
                }
                state = BucketState()
            }
            touched[name] = nil
            buckets[name] = nil
        }
    }

    mutating func install(_ merges: [BackgroundMerges.Finished]) {
        for merge in merges where touched[merge.bucket] != nil || buckets[merge.bucket] != nil {
            modify(merge.bucket) { _ = $0.install(merge.tier, in: merge.field) }
        }
    }

    func snapshot(change: ChangeNumber) -> Snapshot {
        var table = buckets
        for (name, state) in touched { table[name] = BucketBox(state) }
        return Snapshot(change: change, buckets: table, objects: objects, points: points)
    }

    private mutating func modify(_ name: BucketName, _ body: (inout BucketState) -> Void) {
        // Moved out and back, so that the state is written in place.
        var state = touched.removeValue(forKey: name) ?? buckets[name]?.state ?? BucketState()
        let (objectsBefore, pointsBefore) = (state.count, state.points)
        body(&state)
        objects += state.count - objectsBefore
        points += state.points - pointsBefore
        touched[name] = state
    }
}

/// Merges of large tiers, run beside the writer.
private final class BackgroundMerges: Sendable {
    struct Finished {
        let bucket: BucketName
        let field: FieldPath
        let tier: MergedTier
    }

    private struct Place: Hashable {
        let bucket: BucketName
        let field: FieldPath
    }

    private struct State {
        var running: Set<Place> = []
        var finished: [Finished] = []
    }

    private let state = Mutex(State())
    private let queue = DispatchQueue(label: "geobucket.merge", qos: .utility)
    private let ready: @Sendable () -> Void

    init(ready: @escaping @Sendable () -> Void) { self.ready = ready }

    /// Starts the merge that an index is due, unless one of it is under way.
    func start(_ index: PointIndex, field: FieldPath, bucket: BucketName) {
        let place = Place(bucket: bucket, field: field)
        guard !state.withLock({ $0.running.contains(place) }), let job = index.pendingMerge()
        else { return }
        state.withLock { _ = $0.running.insert(place) }
        queue.async { [self] in
            let merged = job.run()
            state.withLock {
                $0.finished.append(Finished(bucket: bucket, field: field, tier: merged))
            }
            ready()
        }
    }

    /// The merges that have finished since the last call.
    func finished() -> [Finished] {
        state.withLock { state in
            defer { state.finished.removeAll() }
            for merge in state.finished {
                state.running.remove(Place(bucket: merge.bucket, field: merge.field))
            }
            return state.finished
        }
    }
}
