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
    let works: ColumnWorks
    let tuning: Tuning

    /// When columns and their orders are worth making.
    public struct Tuning: Sendable {
        /// Objects of a bucket, at least.
        public var smallestBucket = 64
        /// Documents that a query would read for want of a column.
        public var documentsForColumn = 64
        /// Candidates that a query would look at for want of an order.
        public var candidatesForOrder = 4_096
        /// How many times cheaper an order would have to make it.
        public var gainForOrder = 4.0

        public init() {}
    }

    /// - Parameters:
    ///   - secret: authenticates page keys; the same after a restart.
    ///   - source: where documents come from that are not cached.
    ///   - due: called on some thread when `maintain` has something to do.
    public init(
        limits: Limits, secret: [UInt8], source: any DocumentSource, tuning: Tuning = Tuning(),
        due: @escaping @Sendable () -> Void = {}
    ) {
        self.limits = limits
        self.source = source
        keys = PageKeyCodec(secret: secret)
        cache = DocumentCache(capacityBytes: limits.documentCacheBytes)
        current = Mutex(Snapshot(change: 0, buckets: [:], objects: 0, points: 0))
        merges = BackgroundMerges(ready: due)
        works = ColumnWorks(source: source, due: due)
        self.tuning = tuning
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
    public func apply(_ changes: [Change], upTo change: ChangeNumber) {
        var next = Successor(snapshot)
        parsers.withParser { parser in
            for change in changes {
                switch change {
                case .upsert(let object, let document):
                    next.upsert(object, document, parser)
                    cache.put(document, creation: object.creation, change: object.change)
                case .delete(let bucket, let creation):
                    next.delete(creation, in: bucket)
                    cache.remove(creation: creation)
                case .deleteBucket(let name):
                    next.deleteBucket(name, cache: cache)
                    works.forget(name)
                }
            }
        }
        next.install(merges.finished())
        finish(next, change: change)
    }

    /// Puts in place what was made beside the writer: merged tiers, columns, orders.
    public func maintain() {
        var next = Successor(snapshot)
        next.install(merges.finished())
        let begun = next.take(works)
        next.evictColumns(works, over: limits.memoryBytes)
        finish(next, change: snapshot.change)
        for (bucket, fillings, objects) in begun {
            works.fill(fillings, of: bucket, objects: objects)
        }
    }

    /// Whether nothing is being made beside the writer.
    public var isSettled: Bool { works.isIdle }

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

    mutating func upsert(_ object: ObjectChange, _ document: [UInt8], _ parser: JSONParser) {
        modify(object.bucket) { state in
            let slot = state.apply(object)
            guard !state.columns.isEmpty, let view = try? parser.parse(document) else { return }
            for field in state.columns.entries.keys {
                state.columns.set(slot, to: ColumnValue(field.value(in: view)), in: field)
            }
        }
    }

    mutating func delete(_ creation: ChangeNumber, in bucket: BucketName) {
        modify(bucket) { $0.delete(created: creation) }
    }

    mutating func deleteBucket(_ name: BucketName, cache: DocumentCache) {
        modify(name) { state in
            for slot in 0..<state.slotCount where state.records[slot].isAlive {
                cache.remove(creation: state.records[slot].creation)
            }
            state = BucketState()
        }
        touched[name] = nil
        buckets[name] = nil
    }

    /// Does the steps that wait; tells which columns have begun and are to be filled.
    mutating func take(
        _ works: ColumnWorks
    ) -> [(bucket: BucketName, fillings: [ColumnWorks.Filling], objects: Int)] {
        var begun: [(bucket: BucketName, fillings: [ColumnWorks.Filling], objects: Int)] = []
        for step in works.takeSteps() {
            switch step {
            case .begin(let bucket, let fields):
                let fillings = begin(fields, of: bucket, works)
                if !fillings.isEmpty { begun.append((bucket, fillings, count(of: bucket))) }
            case .fill(let bucket, let fillings, let rows):
                fill(fillings, of: bucket, rows)
                works.filled()
            case .finish(let bucket, let fillings):
                for filling in fillings { finish(filling, of: bucket, works) }
            case .order(let bucket, let filling, let index, let column):
                guard exists(bucket) else { continue }
                modify(bucket) { state in
                    let records = state.records
                    state.columns.install(index, madeOf: column, in: filling) {
                        records[Int($0)].isAlive
                    }
                }
            }
        }
        return begun
    }

    /// Gives up columns until they fit: those that no query has used of late, then any.
    mutating func evictColumns(_ works: ColumnWorks, over budget: Int) {
        let places = works.places
        func entry(_ place: ColumnWorks.Place) -> ColumnSet.Entry? {
            (touched[place.bucket] ?? buckets[place.bucket]?.state)?.columns.entries[place.field]
        }
        var bytes = places.reduce(0) { $0 + (entry($1)?.memoryBytes ?? 0) }
        for isLastResort in [false, true] {
            for place in places where bytes > budget {
                guard let entry = entry(place), isLastResort || !entry.use.takeChance() else {
                    continue
                }
                bytes -= entry.memoryBytes
                modify(place.bucket) { $0.columns.remove(place.field) }
                works.forget(place, refused: isLastResort)
            }
        }
    }

    private func exists(_ name: BucketName) -> Bool {
        touched[name] != nil || buckets[name] != nil
    }

    private func count(of name: BucketName) -> Int {
        (touched[name] ?? buckets[name]?.state)?.count ?? 0
    }

    private mutating func begin(
        _ fields: [FieldPath], of bucket: BucketName, _ works: ColumnWorks
    ) -> [ColumnWorks.Filling] {
        guard exists(bucket) else {
            works.forget(bucket)
            return []
        }
        var fillings: [ColumnWorks.Filling] = []
        modify(bucket) { fillings = $0.beginColumns(fields) }
        return fillings
    }

    private mutating func fill(
        _ fillings: [ColumnWorks.Filling], of bucket: BucketName, _ rows: [ColumnWorks.Row]
    ) {
        guard exists(bucket) else { return }
        modify(bucket) { state in
            for row in rows {
                guard let slot = state.slot(created: row.creation) else { continue }
                for (filling, value) in zip(fillings, row.values) {
                    state.columns.fill(slot, with: value, in: filling)
                }
            }
        }
    }

    private mutating func finish(
        _ filling: ColumnWorks.Filling, of bucket: BucketName, _ works: ColumnWorks
    ) {
        guard exists(bucket) else { return }
        modify(bucket) { state in
            guard !state.columns.finish(filling) else { return }
            state.columns.remove(filling.field)
            works.forget(ColumnWorks.Place(bucket: bucket, field: filling.field), refused: true)
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
