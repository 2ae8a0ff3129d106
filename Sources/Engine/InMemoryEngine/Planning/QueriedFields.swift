import Columns
import Objects
import SpatialIndex

/// The fields of a bucket that a query names, by their indexes and columns: each index is looked up
/// once.
struct QueriedFields: Sendable {
    let bucket: BucketView
    /// The field paths for which a column would have helped.
    private(set) var missing: Set<FieldPath> = []
    /// The first indexes that were asked for; most queries ask for one.
    private var indexes: [(field: FieldPath, index: PointIndex)] = []

    private static let few = 8

    init(of bucket: BucketView) { self.bucket = bucket }

    /// The index of the points at a field; nil if no object has any.
    func index(_ field: FieldPath) -> PointIndex? {
        for position in indexes.indices where indexes[position].field == field {
            return indexes[position].index
        }
        return bucket.state.fields[field]
    }

    /// The same, which is then known.
    mutating func lookUp(_ field: FieldPath) -> PointIndex? {
        guard let index = index(field) else { return nil }
        if indexes.count < Self.few, !indexes.contains(where: { $0.field == field }) {
            indexes.append((field, index))
        }
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
