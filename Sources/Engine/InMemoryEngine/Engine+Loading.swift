import BackendContract
import CGlibc
import Dispatch
import HashTreeCollections
import Objects
import Runtime
import Synchronization

extension Engine {
    /// Replaces the whole state by the objects that `feed` delivers in the order of creation.
    ///
    /// - Parameters:
    ///   - buckets: every bucket. Loaded objects refer to their bucket by its index in this list.
    ///   - fields: every path that holds points. Loaded points refer to their field by its index in
    ///     this list.
    public func load(
        buckets: [BucketName], fields: [FieldPath], change: ChangeNumber,
        _ feed: ((LoadedObjects) throws -> Void) throws -> Void
    ) rethrows {
        let distributor = RowDistributor(
            buckets: buckets.count, pointsPerTree: tuning.pointsPerTree)
        try feed { distributor.add($0) }
        // Returns the temporary memory of the build to the system.
        defer { gb_malloc_trim() }
        let builders = distributor.finish()
        let pieces = (builders.count + 255) / 256
        let states = concurrentMap(pieces) { piece in
            builders[piece * 256..<min((piece + 1) * 256, builders.count)].map {
                // Several pieces keep the processors busy without more threads.
                $0.build(fields: fields, byThreads: pieces == 1)
            }
        }.joined()
        var table = TreeDictionary<BucketName, BucketView>()
        var totals = Snapshot.Totals()
        for (name, state) in zip(buckets, states) {
            totals.add(state, named: name)
            table[name] = BucketView(state, change: change)
        }
        publish(
            Snapshot(
                change: change, buckets: table, totals: totals,
                superseded: snapshot.superseded.nextSnapshot()))
    }
}

/// Distributes loaded objects to the builders of their buckets, on a separate thread from the
/// reader's.
private final class RowDistributor: Sendable {
    private let builders: Mutex<[BucketBuilder]>
    private let thread = WorkThread("load")
    /// Limits how many groups of objects the reader may be ahead.
    private let ahead = DispatchSemaphore(value: 8)

    init(buckets: Int, pointsPerTree: Int) {
        let empty = BucketBuilder(pointsPerTree: pointsPerTree)
        builders = Mutex([BucketBuilder](repeating: empty, count: buckets))
    }

    func add(_ objects: LoadedObjects) {
        ahead.wait()
        thread.async { [self] in
            builders.withLock { builders in
                objects.visit { object, id, points in
                    builders[object.bucket].add(object, id, points)
                }
            }
            ahead.signal()
        }
    }

    /// Returns the builders with everything that was added. It must be called once.
    func finish() -> [BucketBuilder] {
        thread.sync {
            builders.withLock { builders in
                defer { builders = [] }
                return builders
            }
        }
    }
}
