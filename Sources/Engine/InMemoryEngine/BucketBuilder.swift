import BackendContract
import Geodesy
import Objects
import PersistentStructures
import Runtime
import SpatialIndex

/// Builds a bucket in one pass, with packed indexes.
struct BucketBuilder: Sendable {
    private var records = PersistentArray<BucketState.SlotRecord>()
    private var newestChanges = NewestChanges()
    private var ids = SlotIDs()
    private var expiries = Expiries()
    /// The list is short, so a linear search by the field number is enough.
    private var points: [FieldPoints] = []

    private let pointsPerTree: Int
    /// The field paths by field number.
    private let fields: [FieldPath]

    private struct FieldPoints: Sendable {
        let field: Int
        var list: [(slot: Slot, coordinate: Coordinate)]
    }

    init(pointsPerTree: Int, fields: [FieldPath]) {
        (self.pointsPerTree, self.fields) = (pointsPerTree, fields)
    }

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
        newestChanges.note(record.change, of: slot)
        expiries.set(slot, expires)
        return slot
    }

    /// Adds a point to a slot, which may have several. Slots have to ascend.
    mutating func add(_ coordinate: Coordinate, field: Int, to slot: Slot) {
        if let position = points.firstIndex(where: { $0.field == field }) {
            points[position].list.append((slot, coordinate))
        } else {
            points.append(FieldPoints(field: field, list: [(slot, coordinate)]))
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
        case index(BulkIndex.Part)
    }

    /// - Parameters:
    ///   - place: the bucket's former place.
    ///   - byThreads: whether other threads may help to build a large bucket.
    func build(place: FieldPath?, byThreads: Bool = true) -> BucketState {
        let isConcurrent = byThreads && !isSmall
        func map<Value: Sendable>(_ count: Int, _ make: @Sendable (Int) -> Value) -> [Value] {
            isConcurrent ? concurrentMap(count, make) : (0..<count).map(make)
        }
        let indexes = map(points.count) {
            BulkIndex(points[$0].list, deltaCapacity: pointsPerTree)
        }
        let indexParts = indexes.count * BulkIndex.parts
        @Sendable func part(_ number: Int) -> Part {
            guard number < indexParts else {
                var ids = ids
                ids.indexAll()
                return .ids(ids)
            }
            return .index(indexes[number / BulkIndex.parts].part(number % BulkIndex.parts))
        }
        var found = SlotIDs()
        var made: [BulkIndex.Part] = []
        for part in map(indexParts + 1, part) {
            switch part {
            case .ids(let ids): found = ids
            case .index(let part): made.append(part)
            }
        }
        var table: [FieldPath: PointIndex] = [:]
        for (number, index) in indexes.enumerated() {
            let first = number * BulkIndex.parts
            table[fields[points[number].field]] = index.index(
                Array(made[first..<first + BulkIndex.parts]))
        }
        return BucketState(
            records: records, newestChanges: newestChanges, ids: found, fields: table,
            place: place, expiries: expiries, pointsPerTree: pointsPerTree)
    }
}
