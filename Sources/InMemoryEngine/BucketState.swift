import Backend
import CGlibc
import Geodesy
import JSONText
import Objects
import SpatialIndex

/// What memory holds of one bucket at one moment: a value, whose copies share what has not changed.
///
/// Every object has a slot, given at creation and kept through its updates, so slots are in the
/// order of creation. Deletions leave holes; when a quarter of the slots are holes they are
/// renumbered, beside the writer (`Compactions`).
struct BucketState: Sendable {
    private(set) var records = PersistentArray<SlotRecord>()
    private(set) var fields: [FieldPath: PointIndex] = [:]
    var columns = ColumnSet()
    private(set) var expiries = Expiries()
    /// Objects alive.
    private(set) var count = 0
    private var ids = SlotIDs()

    struct SlotRecord: BitwiseCopyable, Sendable {
        var creation: ChangeNumber
        /// The number of the object's latest change; 0 for a hole.
        var change: ChangeNumber

        var isAlive: Bool { change != 0 }
    }

    /// Buckets with fewer holes are left as they are.
    private static let fewHoles = 64

    var slotCount: Int { records.count }

    /// Whether so many slots are holes that they should be renumbered.
    var isSparse: Bool {
        let holes = slotCount - count
        return holes >= Self.fewHoles && holes * 4 > slotCount
    }

    var points: Int { fields.values.reduce(0) { $0 + $1.count } }

    // What the parts occupy, in bytes, as if they shared nothing with the bucket's copies.

    var recordBytes: Int { records.memoryBytes + expiries.memoryBytes }
    var idBytes: Int { ids.memoryBytes }
    var pointBytes: Int {
        fields.reduce(0) { $0 + $1.value.memoryBytes + $1.key.utf8.count + 256 }
    }
    var columnBytes: Int { columns.memoryBytes }

    // Inlined because a call would copy the state, and with it count many references.

    @inline(__always)
    func id(of slot: Slot) -> UnsafeBufferPointer<UInt8> { ids[slot] }

    // Of many slots, fetched together.

    @inline(__always)
    func ids(of slots: [Slot]) -> [UnsafeBufferPointer<UInt8>] { ids.ids(of: slots) }

    @inline(__always)
    func prefetchIDs(of slots: UnsafeBufferPointer<Slot>) { ids.prefetch(slots) }

    @inline(__always)
    func prefetchRecords(of slots: UnsafeBufferPointer<Slot>) {
        records.forEachAddress(at: slots) { gb_prefetch($0) }
    }

    @inline(__always)
    func records(of slots: [Slot]) -> [SlotRecord] {
        // The array without elements is one for all threads: its count is not to be written.
        guard !slots.isEmpty else { return [] }
        var slots = slots
        return [SlotRecord](unsafeUninitializedCapacity: slots.count) { found, count in
            count = slots.count
            slots.withUnsafeMutableBufferPointer { records.copy(at: $0, to: found) }
        }
    }

    @inline(__always)
    func slot(of id: ObjectID) -> Slot? {
        var text = id.text
        guard let newest = text.withUTF8({ ids.newestSlot(of: $0) }) else { return nil }
        return records[Int(newest)].isAlive ? newest : nil
    }

    private static let aimedLooks = 4

    /// The first slot whose object was created after a change number: where a page goes on.
    func firstSlot(createdAfter creation: ChangeNumber) -> Int {
        var (low, high) = (0, records.count)
        // Mostly asked for an object that is new.
        if high > 0, records[high - 1].creation <= creation { return high }
        // Numbers are spread about evenly over slots: the first looks go where that would lead.
        var looks = 0
        while low < high {
            var middle = (low + high) / 2
            if looks < Self.aimedLooks {
                let (first, last) = (records[low].creation, records[high - 1].creation)
                if creation < first { return low }
                if creation >= last { return high }
                let share = Double(creation - first) / Double(last - first)
                middle = low + Int(share * Double(high - low - 1))
                looks += 1
            }
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
            slot = Slot(records.count)
            append(change.metadata.id)
            records.append(SlotRecord(creation: change.creation, change: change.change))
            count += 1
        }
        expiries.set(slot, change.metadata.expires ?? Expiries.never)
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

    private mutating func append(_ id: ObjectID) {
        var text = id.text
        text.withUTF8 { text in ids.append(text) { records[Int($0)].isAlive } }
    }

    mutating func delete(created creation: ChangeNumber) {
        guard let slot = slot(created: creation) else { return }
        ids.noteRemoval()
        columns.clear(slot)
        expiries.set(slot, Expiries.never)
        records[Int(slot)].change = 0
        count -= 1
        for field in Array(fields.keys) {
            fields[field]!.remove(slot)
            if fields[field]!.count == 0 { fields[field] = nil }
        }
        if count == 0 {
            let columns = columns.keeping([])
            self = BucketState()
            self.columns = columns
        }
    }

    /// Takes away what has expired at a time.
    mutating func removeExpired(at now: Int64) {
        var expired: [ChangeNumber] = []
        expiries.forEach(until: now) { expired.append(records[Int($0)].creation) }
        for creation in expired { delete(created: creation) }
    }

    mutating func install(_ merged: MergedTier, in field: FieldPath) -> Bool {
        fields[field]?.install(merged) ?? false
    }

    /// Takes on the slots of the same objects' renumbered state, which has no columns.
    mutating func renumber(as other: BucketState) {
        precondition(count == other.count, "a compaction that lost objects")
        var next = other
        if !columns.isEmpty {
            var (slots, slot): ([Slot], Int) = ([], 0)
            slots.reserveCapacity(other.slotCount)
            for number in 0..<other.slotCount {
                while records[slot].creation < other.records[number].creation { slot += 1 }
                slots.append(Slot(slot))
            }
            next.columns = columns.keeping(slots)
        }
        self = next
    }

    /// The same objects, their slots renumbered without the holes, on the calling thread alone.
    ///
    /// - Complexity: O(slots).
    func compacted() -> BucketState {
        let fields = Array(fields)
        var builder = BucketBuilder()
        for slot in 0..<slotCount where records[slot].isAlive {
            let new = builder.add(
                id(of: Slot(slot)), records[slot], expires: expiries[Slot(slot)])
            for (number, field) in fields.enumerated() {
                if let place = field.value.position(of: Slot(slot)) {
                    builder.add(place, field: number, to: new)
                }
            }
        }
        return builder.build(fields: fields.map(\.key), byThreads: false)
    }
}

extension BucketState {
    /// A bucket of parts that belong together: slots without holes.
    init(
        records: PersistentArray<SlotRecord>, ids: SlotIDs, fields: [FieldPath: PointIndex],
        expiries: Expiries
    ) {
        self.records = records
        self.ids = ids
        self.fields = fields
        self.expiries = expiries
        count = records.count
    }
}

extension PersistentArray<BucketState.SlotRecord> {
    /// The changes that created the objects that are there, in their order.
    var creations: [ChangeNumber] {
        (0..<count).compactMap { self[$0].isAlive ? self[$0].creation : nil }
    }
}
