import Backend
import InMemoryEngine
import Objects

/// At how many field paths each bucket holds GeoPoints: each path has an index of its own.
struct GeoFieldBudget {
    let limit: Int

    /// Refuses documents that are about to be written if there is no room for all paths of their points.
    ///
    /// - Parameters:
    ///   - successor: what the bucket is before them.
    ///   - path: where the document of this place stands in the request.
    func check(
        _ documents: some Sequence<[FieldPoint]>, in bucket: BucketName, of successor: Successor,
        at path: (Int) -> String
    ) throws(ServiceFailure) {
        var new: Set<FieldPath> = []
        // Mostly the same path again and again.
        var last: FieldPath?
        for (place, points) in documents.enumerated() {
            for point in points where point.field != last {
                last = point.field
                guard !successor.hasGeoPoints(at: point.field, in: bucket),
                    new.insert(point.field).inserted
                else { continue }
                guard successor.geoFieldCount(of: bucket) + new.count <= limit else {
                    throw ServiceFailure(
                        .invalidInputData,
                        "the bucket has GeoPoints at \(limit) field paths, as many as may be",
                        at: "\(path(place)).\(shortened(point.field.text))")
                }
            }
        }
    }
}
