import Objects

/// At how many field paths each bucket holds GeoPoints: each path has an index of its own.
struct GeoFieldBudget {
    let limit: Int

    /// Refuses documents that are about to be written if there is no room for all paths of their points.
    ///
    /// - Parameters:
    ///   - isKnown: whether the bucket holds GeoPoints at a path before them.
    ///   - count: at how many paths it does.
    ///   - path: where the document of this place stands in the request.
    func check(
        _ documents: some Sequence<[FieldPoint]>, isKnown: (FieldPath) -> Bool,
        count: @autoclosure () -> Int, at path: (Int) -> String
    ) throws(ServiceFailure) {
        var new: Set<FieldPath> = []
        // Mostly the same path again and again.
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
