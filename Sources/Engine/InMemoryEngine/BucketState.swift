import BackendContract
import CGlibc
import Geodesy
import JSONText
import Objects
import PersistentStructures
import SpatialIndex

/// The in-memory state of one bucket at one moment. It is a value; its copies share all unchanged
/// parts.
///
/// Every object gets a slot at its creation and keeps it through updates, so slots are in the order
/// of creation. Deletions leave holes. When a quarter of the slots are holes, a background job
/// renumbers the slots (`CompactionJob`).
struct BucketState: Sendable {
    private(set) var records = PersistentArray<SlotRecord>()
    private var newestChanges = NewestChanges()
    private(set) var fields: [FieldPath: PointIndex] = [:]
    /// The geo field that maps and collections show; nil if no object has a GeoPoint.
    private(set) var place: FieldPath?
    var columns = ColumnSet()
    private(set) var expiries = Expiries()
    /// The number of live objects.
    private(set) var count = 0
    /// Changes when slots are renumbered. Anything derived from slots is valid for one numbering
    /// only.
    private(set) var numbering: UInt32 = 0
    /// The number of points that an index collects before they become a tree.
    private let pointsPerTree: UInt32
    private var ids = SlotIDs()

    struct SlotRecord: BitwiseCopyable, Sendable {
        var creation: ChangeNumber
        /// The number of the object's latest change; 0 for a hole.
        var change: ChangeNumber

        var isAlive: Bool { change != 0 }
    }

    /// A bucket without objects.
    init(pointsPerTree: Int = PointIndex.defaultDeltaCapacity) {
        self.pointsPerTree = UInt32(pointsPerTree)
    }

    var slotCount: Int { records.count }

    /// Whether the share of holes is large enough to renumber the slots.
    func isSparse(_ tuning: Engine.Tuning) -> Bool {
        let holes = slotCount - count
        return holes >= tuning.holes && holes * tuning.slotsPerHole > slotCount
    }

    var points: Int { fields.values.reduce(0) { $0 + $1.pointCount } }

    // The bytes that each part occupies, as if it shared nothing with copies of the bucket.

    var recordBytes: Int {
        records.memoryBytes + newestChanges.memoryBytes + expiries.memoryBytes
    }
    var idBytes: Int { ids.memoryBytes }
    var pointBytes: Int {
        fields.reduce(0) { $0 + $1.value.memoryBytes + $1.key.utf8.count + 256 }
    }
    var columnBytes: Int { columns.memoryBytes }

    // Inlined, because a call would copy the state and retain many references.

    @inline(__always)
    func id(of slot: Slot) -> UnsafeBufferPointer<UInt8> { ids[slot] }

    // The ids of many slots, fetched together.

    @inline(__always)
    func ids(of slots: [Slot]) -> [UnsafeBufferPointer<UInt8>] { ids.ids(of: slots) }

    @inline(__always)
    func prefetchIDs(of slots: UnsafeBufferPointer<Slot>) { ids.prefetch(slots) }

    @inline(__always)
    func prefetchRecords(of slots: UnsafeBufferPointer<Slot>) {
        records.forEachAddress(at: slots) { gb_prefetch($0) }
    }

    @inline(__always)
    func slot(of id: ObjectID) -> Slot? {
        var text = id.text
        guard let newest = text.withUTF8({ ids.newestSlot(of: $0) }) else { return nil }
        return records[Int(newest)].isAlive ? newest : nil
    }

    /// The first slot whose object was created after a change number. A page continues there.
    func firstSlot(createdAfter creation: ChangeNumber) -> Int {
        records.firstSlot(createdAfter: creation)
    }

    /// The slot of the object that a change created, even if the object has been deleted.
    func slot(created creation: ChangeNumber) -> Slot? { records.slot(created: creation) }

    /// Whether the object that a change created is there.
    func isAlive(created creation: ChangeNumber) -> Bool {
        slot(created: creation).map { records[Int($0)].isAlive } ?? false
    }

    /// The slots of the objects that have changed after a change number, in ascending order.
    func slots(changedAfter change: ChangeNumber) -> some Sequence<Slot> {
        newestChanges.blocks(changedAfter: change, of: slotCount).lazy.joined()
            .filter { records[$0].change > change }.map { Slot($0) }
    }

    /// The change that created the object of the last slot; 0 if there is no slot.
    private var lastCreation: ChangeNumber {
        records.count > 0 ? records[records.count - 1].creation : 0
    }

    /// - Returns: the object's slot.
    @discardableResult
    mutating func apply(_ change: ObjectChange) -> Slot {
        var id = change.metadata.id.text
        let slot = id.withUTF8 { enter(change.creation, change.change, id: $0) }
        insert(slot, change.points, expires: change.metadata.expires ?? Expiries.never)
        return slot
    }

    /// Records an object's latest change, and assigns a slot to a new object.
    private mutating func enter(
        _ creation: ChangeNumber, _ change: ChangeNumber, id: UnsafeBufferPointer<UInt8>
    ) -> Slot {
        if let known = slot(created: creation) {
            if !records[Int(known)].isAlive {
                ids.noteReturn()
                count += 1
            }
            records[Int(known)].change = change
            newestChanges.note(change, of: known)
            return known
        }
        let slot = Slot(records.count)
        newestChanges.note(change, of: slot)
        ids.append(id) { records[Int($0)].isAlive }
        records.append(SlotRecord(creation: creation, change: change))
        count += 1
        return slot
    }

    private mutating func insert(_ slot: Slot, _ points: [FieldPoint], expires: Int64) {
        // Iterates over a copy of the keys: iterating over the table itself would share the indexes
        // while they are written.
        var present: [FieldPath] = []
        FieldPoint.forEachField(of: points) { field, _ in present.append(field) }
        for field in fields.keys.filter({ !present.contains($0) }) {
            fields[field]!.remove(slot)
            if fields[field]!.count == 0 { fields[field] = nil }
        }
        expiries.set(slot, expires)
        FieldPoint.forEachField(of: points) { field, points in set(points, in: field, for: slot) }
    }

    /// Elects the place of the present objects.
    ///
    /// - Parameter former: the former place.
    mutating func electPlace(after former: FieldPath?) {
        if fields.count == 1, let former, fields[former] != nil {
            place = former
        } else {
            place = PlaceElection.place(
                after: former, among: fields.lazy.map { ($0.key, $0.value.count) })
        }
    }

    /// Sets the points that a slot's object has at a field path, of which there is at least one.
    private mutating func set(
        _ points: ArraySlice<FieldPoint>, in field: FieldPath, for slot: Slot
    ) {
        func set(_ index: inout PointIndex) {
            if points.count == 1 {
                index.set(points.first!.coordinate, for: slot)
            } else {
                index.set(points.map(\.coordinate), for: slot)
            }
        }
        set(&fields[field, default: PointIndex(deltaCapacity: Int(pointsPerTree))])
    }

    /// The points of a slot's object.
    func points(of slot: Slot) -> [FieldPoint] {
        fields.flatMap { field, index in
            index.position(of: slot).points.map { FieldPoint(field: field, coordinate: $0) }
        }
    }

    mutating func delete(created creation: ChangeNumber) {
        guard let slot = slot(created: creation) else { return }
        ids.noteRemoval()
        columns.clear(slot)
        insert(slot, [], expires: Expiries.never)
        records[Int(slot)].change = 0
        count -= 1
        if count == 0 {
            let emptied = self
            self = BucketState(pointsPerTree: Int(pointsPerTree))
            columns = emptied.columns.emptied
            numbering = emptied.numbering &+ 1
        }
    }

    mutating func install(_ merged: MergedTier, in field: FieldPath) -> Bool {
        fields[field]?.install(merged) ?? false
    }

    /// The same objects with renumbered slots and no holes, built on the calling thread alone. The
    /// result shares nothing with this state that a writer appends to.
    ///
    /// - Complexity: O(slots), and O(slots) again for each column.
    func compacted() -> BucketState {
        let fields = Array(fields)
        var builder = BucketBuilder(
            pointsPerTree: Int(pointsPerTree), fields: fields.map(\.key))
        var kept: [Slot] = []
        kept.reserveCapacity(count)
        for slot in 0..<slotCount where records[slot].isAlive {
            let new = builder.add(
                id(of: Slot(slot)), records[slot], expires: expiries[Slot(slot)])
            kept.append(Slot(slot))
            for (number, field) in fields.enumerated() {
                for point in field.value.position(of: Slot(slot)).points {
                    builder.add(point, field: number, to: new)
                }
            }
        }
        var compacted = builder.build(place: place, byThreads: false)
        compacted.numbering = numbering &+ 1
        compacted.columns = columns.renumbered(kept)
        return compacted
    }

    /// Copies the state of one object from another state of the same bucket, whose slots may have
    /// other numbers. New objects have to be adopted in the order of their creation. An object may
    /// return that was deleted here only.
    ///
    /// - Returns: false if it cannot return: its slot or its id is no longer known.
    @discardableResult
    mutating func adopt(_ creation: ChangeNumber, from other: BucketState) -> Bool {
        guard let source = other.slot(created: creation), other.records[Int(source)].isAlive else {
            if isAlive(created: creation) { delete(created: creation) }
            return true
        }
        if !isAlive(created: creation), creation <= lastCreation {
            guard let slot = slot(created: creation), ids.newestSlot(of: id(of: slot)) == slot
            else { return false }
        }
        let change = other.records[Int(source)].change
        let slot = enter(creation, change, id: other.id(of: source))
        insert(slot, other.points(of: source), expires: other.expiries[source])
        columns.adopt(slot, from: other.columns, source)
        return true
    }
}

extension BucketState {
    /// A bucket made of parts that belong together. Its slots have no holes.
    init(
        records: PersistentArray<SlotRecord>, newestChanges: NewestChanges, ids: SlotIDs,
        fields: [FieldPath: PointIndex], place: FieldPath?, expiries: Expiries,
        pointsPerTree: Int
    ) {
        self.init(pointsPerTree: pointsPerTree)
        self.records = records
        self.newestChanges = newestChanges
        self.ids = ids
        self.fields = fields
        self.expiries = expiries
        count = records.count
        electPlace(after: place)
    }
}
