import BackendContract
import Geodesy
import Objects
import PersistentStructures
import Runtime
import SpatialIndex

/// Builds a bucket in one pass, with packed indexes.
struct BucketBuilder: Sendable {
    private var records = PersistentArray<BucketState.SlotRecord>()
    private var ids = SlotIDs()
    private var expiries = Expiries()
    /// Indexed by field number. The list is short, so a linear search is enough.
    private var points: [(field: Int, list: [(slot: Slot, coordinate: Coordinate)])] = []

    private let pointsPerTree: Int

    init(pointsPerTree: Int) { self.pointsPerTree = pointsPerTree }

    /// Several threads build a bucket that has more objects than this.
    private static let small = 4_096

    private var isSmall: Bool { records.count <= Self.small }

    /// Adds an object. Creation numbers have to ascend.
    mutating func add(
        _ id: UnsafeBufferPointer<UInt8>, _ record: BucketState.SlotRecord, expires: Int64
    ) -> Slot {
        ids.appendUnindexed(id)
        let slot = Slot(records.count)
        records.append(record)
        expiries.set(slot, expires)
        return slot
    }

    /// Adds a point to a slot, which may have several. Slots have to ascend.
    mutating func add(_ coordinate: Coordinate, field: Int, to slot: Slot) {
        if let position = points.firstIndex(where: { $0.field == field }) {
            points[position].list.append((slot, coordinate))
        } else {
            points.append((field, [(slot, coordinate)]))
        }
    }

    mutating func add(
        _ object: LoadedObjects.Object, _ id: UnsafeBufferPointer<UInt8>,
        _ points: UnsafeBufferPointer<LoadedObjects.Point>
    ) {
        let slot = add(
            id, BucketState.SlotRecord(creation: object.creation, change: object.change),
            expires: object.expires ?? Expiries.never)
        for point in points { add(point.coordinate, field: point.field, to: slot) }
    }

    private enum Part: Sendable {
        case ids(SlotIDs)
        case index(FieldPath, PointIndex)
    }

    /// An index of the points, or after these the table of ids.
    private func part(_ number: Int, _ fields: [FieldPath]) -> Part {
        if number < points.count {
            let (field, list) = points[number]
            return .index(fields[field], PointIndex(bulk: list, deltaCapacity: pointsPerTree))
        }
        var ids = ids
        ids.indexAll()
        return .ids(ids)
    }

    /// - Parameters:
    ///   - fields: the field paths, indexed by field number.
    ///   - byThreads: whether other threads may help to build a large bucket.
    func build(fields: [FieldPath], byThreads: Bool = true) -> BucketState {
        let count = points.count + 1
        let parts =
            byThreads && !isSmall
            ? concurrentMap(count) { part($0, fields) } : (0..<count).map { part($0, fields) }
        var (found, indexes) = (SlotIDs(), [FieldPath: PointIndex]())
        for part in parts {
            switch part {
            case .ids(let ids): found = ids
            case .index(let field, let index): indexes[field] = index
            }
        }
        return BucketState(
            records: records, ids: found, fields: indexes, expiries: expiries,
            pointsPerTree: pointsPerTree)
    }
}
