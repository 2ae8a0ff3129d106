import Objects

/// Which of a bucket's geo fields is its place, the one that maps and collections show: the one that
/// most objects have, of equals the first by name. It stays the place until another has more than
/// twice as many objects, so that a few writes do not change what they show.
///
/// So it depends on earlier states. Each transaction that changes a bucket ends with an election, and
/// stores the place with the bucket. Whoever loads a bucket, or takes over what another
/// node has written, takes the stored place instead.
enum PlaceElection {
    /// The place after a write.
    ///
    /// - Parameters:
    ///   - former: the place before it.
    ///   - fields: the geo fields and how many objects have each, which is never 0.
    static func place(
        after former: FieldPath?, among fields: some Sequence<(field: FieldPath, objects: Int)>
    ) -> FieldPath? {
        var most: (field: FieldPath, objects: Int)?
        var formerObjects = 0
        for candidate in fields {
            if candidate.field == former { formerObjects = candidate.objects }
            guard let present = most else {
                most = candidate
                continue
            }
            let isBefore =
                candidate.objects == present.objects
                && candidate.field.utf8.lexicographicallyPrecedes(present.field.utf8)
            if candidate.objects > present.objects || isBefore { most = candidate }
        }
        guard let most else { return nil }
        return formerObjects > 0 && most.objects <= 2 * formerObjects ? former : most.field
    }
}
