import Backend
import CGlibc
import HashTreeCollections
import Objects

extension InMemoryEngine {
    /// Replaces everything by the objects that `feed` gives, in the order of creation.
    ///
    /// - Parameters:
    ///   - buckets: every bucket; loaded objects name theirs by its place here.
    ///   - fields: every path that holds points; loaded points name theirs by its place here.
    public func load(
        buckets: [BucketName], fields: [FieldPath], change: ChangeNumber,
        _ feed: ((LoadedObject) throws -> Void) throws -> Void
    ) rethrows {
        var builders = [BucketBuilder](repeating: BucketBuilder(), count: buckets.count)
        try feed { builders[$0.bucket].add($0) }
        // What building needed besides goes back to the system.
        defer { gb_malloc_trim() }
        let (built, pieces) = (builders, (builders.count + 255) / 256)
        builders = []
        let states = concurrentMap(pieces) { piece in
            built[piece * 256..<min((piece + 1) * 256, built.count)].map {
                $0.build(fields: fields)
            }
        }.joined()
        var table = TreeDictionary<BucketName, BucketBox>()
        var totals = Snapshot.Totals()
        for (name, state) in zip(buckets, states) {
            totals.add(state, named: name)
            table[name] = BucketBox(state)
        }
        publish(
            Snapshot(
                change: change, buckets: table, totals: totals,
                superseded: snapshot.superseded.successor()))
    }
}
