import BackendContract
import JSONText
import Objects
import PersistentStructures
import QueryLanguage

/// Finds out why a query finds nothing, from a bounded look at the bucket.
final class PreparedHints: PreparedRead {
    private let query: Query
    private let mayName: @Sendable (BucketName) -> Bool
    /// A query of every object.
    private let planned: PlannedQuery

    /// The most objects that are looked at; of more, so many spread over the order of creation.
    private static let mostObjects = 10_000
    /// The most names of buckets that the missing one is compared with.
    private static let mostNames = 1_000

    /// - Parameter mayName: whether the reader may know of a bucket.
    init(
        _ query: Query, in bucket: BucketName,
        mayName: @escaping @Sendable (BucketName) -> Bool, on engine: Engine
    ) {
        (self.query, self.mayName) = (query, mayName)
        planned = PlannedQuery(Query(), in: bucket, on: engine)
    }

    let isCostly = true

    func run(
        maximumBytes: Int, until stop: StopSignal?, into writer: inout JSONWriter
    ) throws(ServiceFailure) -> ReadEnd {
        let hints =
            planned.snapshot.buckets[planned.bucket] == nil
            ? [QueryHint.noBucket(planned.bucket.text, nearest: nearestBucket)]
            : try hints(within: planned.engine.bounds(until: stop))
        QueryHint.write(hints, maximumBytes: maximumBytes, to: &writer)
        return ReadEnd(count: hints.count)
    }

    private var nearestBucket: String? {
        let bucket = planned.bucket
        let names = planned.snapshot.names.names(in: bucket.scope, after: nil)
            .lazy.filter(mayName).prefix(Self.mostNames)
        return nearestName(to: bucket.text, among: names.map(\.text))
    }

    private func hints(within bounds: ReadBounds) throws(ServiceFailure) -> [QueryHint] {
        let contents = planned.planner.bucketView.contents
        guard contents.objects > 0 else { return [] }
        let execution = planned.execution(within: bounds)
        let slots = sample
        let fields = try execution.survey(of: slots)
        let search = HintSearch(
            fields, isOfAll: slots.count == contents.objects, sampled: slots.count,
            geoFields: contents.geoFields, place: contents.place)
        return search.hints(for: query)
    }

    /// Visible objects, spread over the order of creation.
    private var sample: [Slot] {
        let view = planned.planner.bucketView
        let state = view.state
        let step = max((state.slotCount + Self.mostObjects - 1) / Self.mostObjects, 1)
        return stride(from: 0, to: state.slotCount, by: step).lazy.map { Slot($0) }
            .filter { slot in
                state.records[Int(slot)].isAlive
                    && view.expiredBy.map { state.expiries[slot] > $0 } ?? true
            }
    }
}
