import Objects
import SpatialIndex

/// The fields of a bucket that a query names, by their indexes and columns.
struct QueriedFields: Sendable {
    let bucket: BucketView
    /// The field paths for which a column would have helped.
    private(set) var missing: Set<FieldPath> = []
    /// The first index that was looked up; most queries ask for no other.
    private var first: (field: FieldPath, index: PointIndex)?

    init(of bucket: BucketView) { self.bucket = bucket }

    /// The index of the points at a field; nil if no object has any.
    func index(_ field: FieldPath) -> PointIndex? {
        if let first, first.field == field { return first.index }
        return bucket.state.fields[field]
    }

    /// The same, and known from then on if it is the first.
    mutating func lookUp(_ field: FieldPath) -> PointIndex? {
        guard let index = index(field) else { return nil }
        if first == nil { first = (field, index) }
        return index
    }

    /// The average number of points that an object with any has at a field.
    func pointsPerObject(_ field: FieldPath) -> Double { index(field)?.pointsPerSlot ?? 1 }

    /// The column of a field; nil if it does not exist or is not complete.
    mutating func column(_ field: FieldPath) -> Column? {
        if let column = bucket.state.columns.ready(field) { return column }
        missing.insert(field)
        return nil
    }
}
