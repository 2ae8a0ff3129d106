import Objects

/// Limits the number of field paths at which a bucket holds GeoPoints, because each path has its
/// own index.
struct GeoFieldBudget {
    let limit: Int

    /// Rejects documents before they are written if their points would exceed the limit of paths.
    ///
    /// - Parameters:
    ///   - documents: the points of each.
    ///   - isKnown: whether the bucket already holds GeoPoints at a path.
    ///   - count: the number of paths at which the bucket already holds GeoPoints.
    ///   - path: the path in the request of the document with an index.
    func check(
        _ documents: [[FieldPoint]], isKnown: (FieldPath) -> Bool,
        count: @autoclosure () -> Int, at path: (Int) -> String
    ) throws(ServiceFailure) {
        var new: Set<FieldPath> = []
        // Most points have the same path as the one before.
        var last: FieldPath?
        for (position, points) in documents.enumerated() {
            for point in points where point.field != last {
                last = point.field
                guard !isKnown(point.field), new.insert(point.field).inserted else { continue }
                guard count() + new.count <= limit else {
                    throw ServiceFailure(
                        .invalidInputData,
                        "the bucket has GeoPoints at \(limit) field paths, as many as may be",
                        at: "\(path(position)).\(shortened(point.field.text))")
                }
            }
        }
    }
}
