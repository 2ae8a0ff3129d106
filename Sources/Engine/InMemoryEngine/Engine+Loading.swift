import BackendContract
import CGlibc
import HashTreeCollections
import Objects
import Runtime

extension Engine {
    /// Replaces the whole state by the objects that `feed` delivers in the order of creation.
    ///
    /// - Parameters:
    ///   - buckets: every bucket. Loaded objects refer to their bucket by its index in this list.
    ///   - places: the stored place of each bucket; nil for one that has none. Empty if nothing is
    ///     stored.
    ///   - fields: every path that holds points. Loaded points refer to their field by its index in
    ///     this list.
    public func load(
        buckets: [BucketName], places: [FieldPath?] = [], fields: [FieldPath],
        change: ChangeNumber, _ feed: ((LoadedObjects) throws -> Void) throws -> Void
    ) rethrows {
        // Returns the temporary memory of the build to the system.
        defer { gb_malloc_trim() }
        let builders = try filledBuilders(buckets.count, fields, feed)
        let pieces = (builders.count + 255) / 256
        let states = concurrentMap(pieces) { piece in
            (piece * 256..<min((piece + 1) * 256, builders.count)).map {
                // Several pieces keep the processors busy without more threads.
                builders[$0].build(
                    place: places.isEmpty ? nil : places[$0], byThreads: pieces == 1)
            }
        }.joined()
        var table = TreeDictionary<BucketName, BucketView>()
        var names = BucketNames()
        var totals = Snapshot.Totals()
        for (name, state) in zip(buckets, states) {
            totals.add(state, named: name)
            table[name] = BucketView(state, change: change)
            names.insert(name)
        }
        publish(
            Snapshot(
                change: change, buckets: table, names: names, totals: totals,
                superseded: snapshot.superseded.nextSnapshot()))
    }

    private func filledBuilders(
        _ buckets: Int, _ fields: [FieldPath],
        _ feed: ((LoadedObjects) throws -> Void) throws -> Void
    ) rethrows -> [BucketBuilder] {
        var builders = [BucketBuilder](
            repeating: BucketBuilder(pointsPerTree: tuning.pointsPerTree, fields: fields),
            count: buckets)
        try feed { objects in
            objects.visit { object, id, points in builders[object.bucket].add(object, id, points) }
        }
        return builders
    }
}
