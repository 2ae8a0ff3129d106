/// The ids of a bucket's slots, and the way back from an id to its slot.
///
/// A few ids are looked through, newest first; more have a hash table.
public struct SlotIDs: Sendable {
    @usableFromInline
    var list = IDList()
    /// None while there are few slots: so small buckets have no room for one either.
    private var table: ContiguousArray<IDTable> = []
    private var hasTable: Bool { list.count > Self.few }

    private static let few = 64

    /// Ids of no slots.
    package init() {}

    /// What the ids occupy, in bytes, as if they shared nothing with their copies.
    package var memoryBytes: Int { list.memoryBytes + (table.first?.memoryBytes ?? 0) }

    /// The id of a slot, also of one that was removed.
    package subscript(slot: Slot) -> Bytes { list[slot] }

    /// The ids of some slots, fetched together.
    @inlinable
    @inline(__always)
    public func ids(of slots: [Slot]) -> [Bytes] { list.ids(of: slots) }

    /// Asks for what `ids(of:)` will need.
    @inlinable
    @inline(__always)
    public func prefetch(_ slots: UnsafeBufferPointer<Slot>) { list.prefetch(slots) }

    /// The newest slot that has an id; it may have been removed.
    package func newestSlot(of id: Bytes) -> Slot? {
        if hasTable { return table[0].find(id, below: Slot(list.count)) { list[$0] } }
        return (0..<Slot(list.count)).last { list[$0].elementsEqual(id) }
    }

    /// Adds the next slot, whose id no slot that is alive has.
    package mutating func append(_ id: Bytes, isAlive: (Slot) -> Bool) {
        let slot = Slot(list.count)
        list.append(id)
        if list.count == Self.few + 1 {
            makeTable { $0 == slot || isAlive($0) }
        } else if hasTable {
            let list = list
            table[0].insert(slot, id: id, where: isAlive) { list[$0] }
        }
    }

    /// Says that a slot was removed.
    package mutating func noteRemoval() {
        if hasTable { table[0].noteRemoval() }
    }

    /// Adds the next slot; none is found by its id until `indexAll`.
    package mutating func appendUnindexed(_ id: Bytes) { list.append(id) }

    /// Ends a run of `appendUnindexed`: makes the table in one go, where there are enough slots.
    package mutating func indexAll() {
        list.trim()
        makeTable { _ in true }
    }

    private mutating func makeTable(where isAlive: (Slot) -> Bool) {
        guard hasTable else { return }
        let list = list
        table = [IDTable(slotCount: list.count, where: isAlive) { list[$0] }]
    }
}
