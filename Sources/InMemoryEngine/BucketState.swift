import Backend
import Geodesy
import JSONText
import Objects
import SpatialIndex

/// What memory holds of one bucket at one moment: a value, whose copies share what has not changed.
///
/// Every object has a slot, given at creation and kept through its updates, so slots are in the
/// order of creation. Deletions leave holes; when half of the slots are holes they are renumbered.
struct BucketState: Sendable {
    private(set) var records = PersistentArray<SlotRecord>()
    private(set) var fields: [FieldPath: PointIndex] = [:]
    var columns = ColumnSet()
    /// Objects alive.
    private(set) var count = 0
    private var ids = IDArena()
    private var table = IDTable()

    struct SlotRecord: BitwiseCopyable, Sendable {
        var creation: ChangeNumber
        /// The number of the object's latest change; 0 for a hole.
        var change: ChangeNumber
        var id: IDArena.Address

        var isAlive: Bool { change != 0 }
    }

    var slotCount: Int { records.count }

    var points: Int { fields.values.reduce(0) { $0 + $1.count } }

    func id(of slot: Slot) -> UnsafeBufferPointer<UInt8> { ids.id(at: records[Int(slot)].id) }

    func slot(of id: ObjectID) -> Slot? {
        var text = id.text
        return text.withUTF8 { utf8 in
            table.find(utf8) { self.id(of: $0) }
        }
    }

    /// The first slot whose object was created after a change number: where a page goes on.
    func firstSlot(createdAfter creation: ChangeNumber) -> Int {
        var (low, high) = (0, records.count)
        while low < high {
            let middle = (low + high) / 2
            if records[middle].creation <= creation { low = middle + 1 } else { high = middle }
        }
        return low
    }

    func slot(created creation: ChangeNumber) -> Slot? {
        let next = firstSlot(createdAfter: creation)
        guard next > 0, records[next - 1].creation == creation else { return nil }
        return Slot(next - 1)
    }

    /// - Returns: the object's slot.
    @discardableResult
    mutating func apply(_ change: ObjectChange) -> Slot {
        let slot: Slot
        if let known = self.slot(created: change.creation) {
            slot = known
            records[Int(slot)].change = change.change
            for field in fields.keys where !change.points.contains(where: { $0.field == field }) {
                fields[field]!.remove(slot)
                if fields[field]!.count == 0 { fields[field] = nil }
            }
        } else {
            slot = append(change)
            addID(of: slot)
        }
        for point in change.points {
            fields[point.field, default: PointIndex()].set(point.coordinate, for: slot)
        }
        return slot
    }

    /// Begins columns that are to be filled.
    mutating func beginColumns(_ fields: [FieldPath]) -> [ColumnWorks.Filling] {
        let holes =
            count == records.count ? [] : (0..<records.count).filter { !records[$0].isAlive }
        return fields.compactMap {
            columns.add($0, slots: records.count, holes: holes.map { Slot($0) })
        }
    }

    mutating func delete(created creation: ChangeNumber) {
        guard let slot = slot(created: creation) else { return }
        removeID(of: slot)
        columns.clear(slot)
        records[Int(slot)].change = 0
        count -= 1
        for field in Array(fields.keys) {
            fields[field]!.remove(slot)
            if fields[field]!.count == 0 { fields[field] = nil }
        }
        if records.count > 64, count < records.count / 2 { compact() }
    }

    mutating func install(_ merged: MergedTier, in field: FieldPath) -> Bool {
        fields[field]?.install(merged) ?? false
    }

    /// Adds an object behind all others; creation numbers have to ascend. Its id is not in the table
    /// yet.
    private mutating func append(_ change: ObjectChange) -> Slot {
        var text = change.id.text
        let address = text.withUTF8 { ids.append($0) }
        records.append(
            SlotRecord(creation: change.creation, change: change.change, id: address))
        count += 1
        return Slot(records.count - 1)
    }

    private mutating func addID(of slot: Slot) {
        let (ids, records) = (ids, records)
        table.insert(slot, id: id(of: slot)) { ids.id(at: records[Int($0)].id) }
    }

    private mutating func addAllIDs() {
        let (ids, records) = (ids, records)
        table = IDTable(slotCount: records.count) { ids.id(at: records[Int($0)].id) }
    }

    private mutating func removeID(of slot: Slot) {
        let (ids, records) = (ids, records)
        table.remove(slot, id: id(of: slot)) { ids.id(at: records[Int($0)].id) }
    }

    /// Renumbers the slots without the holes.
    private mutating func compact() {
        var fresh = BucketState()
        var renumbered = [Slot?](repeating: nil, count: records.count)
        for slot in 0..<records.count where records[slot].isAlive {
            let id = ObjectID(trusted: String(decoding: self.id(of: Slot(slot)), as: UTF8.self))
            renumbered[slot] = fresh.append(
                ObjectChange(
                    bucket: BucketName(trusted: ""), id: id, creation: records[slot].creation,
                    change: records[slot].change, points: []))
        }
        for (field, index) in fields {
            let points = (0..<records.count).compactMap { slot in
                renumbered[slot].flatMap { new in
                    index.position(of: Slot(slot)).map { (slot: new, coordinate: $0) }
                }
            }
            fresh.fields[field] = PointIndex(bulk: points)
        }
        fresh.addAllIDs()
        fresh.columns = columns.keeping(
            (0..<records.count).filter { records[$0].isAlive }.map { Slot($0) })
        self = fresh
    }

    /// Builds a bucket in one go, its indexes packed.
    struct Builder {
        private var state = BucketState()
        private var points: [FieldPath: [(slot: Slot, coordinate: Coordinate)]] = [:]

        /// Adds an object; creation numbers have to ascend.
        mutating func add(_ change: ObjectChange) {
            let slot = state.append(change)
            for point in change.points {
                points[point.field, default: []].append((slot, point.coordinate))
            }
        }

        func build() -> BucketState {
            var built = state
            built.addAllIDs()
            for (field, list) in points { built.fields[field] = PointIndex(bulk: list) }
            return built
        }
    }
}
