import InMemoryEngine
import Objects

/// At how many field paths each bucket holds GeoPoints: each path has an index of its own.
///
/// Knows the buckets that the writes of one transaction touch; a path that one of them frees counts
/// until the next.
struct GeoFieldBudget {
    private var fields: [BucketName: Set<FieldPath>] = [:]
    private let engine: InMemoryEngine
    private let limit: Int

    init(engine: InMemoryEngine, limit: Int) {
        self.engine = engine
        self.limit = limit
    }

    /// Counts the paths of the points of documents that are about to be written, if there is room for
    /// all.
    ///
    /// - Parameter path: where the document of this place stands in the request.
    mutating func take(
        _ documents: some Sequence<[FieldPoint]>, in bucket: BucketName, at path: (Int) -> String
    ) throws(ServiceFailure) {
        var taken = fields[bucket] ?? engine.geoFields(of: bucket)
        // Mostly the same path again and again.
        var last: FieldPath?
        for (place, points) in documents.enumerated() {
            for point in points where point.field != last {
                last = point.field
                guard taken.insert(point.field).inserted else { continue }
                guard taken.count <= limit else {
                    throw ServiceFailure(
                        .invalidInputData,
                        "the bucket has GeoPoints at \(limit) field paths, as many as may be",
                        at: "\(path(place)).\(shortened(point.field.text))")
                }
            }
        }
        fields[bucket] = taken
    }
}
