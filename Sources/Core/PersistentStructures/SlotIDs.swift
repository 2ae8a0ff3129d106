/// The ids of a bucket's slots, with the lookup of a slot by its id.
///
/// A few ids are searched linearly, newest first. More ids have a hash table.
public struct SlotIDs: Sendable {
    @usableFromInline
    var list = IDList()
    /// Empty while there are few slots, so that a small bucket does not even reserve room for a
    /// table.
    private var table: ContiguousArray<IDTable> = []
    private var hasTable: Bool { list.count > Self.few }

    private static let few = 64

    /// No slots.
    package init() {}

    /// The memory of the ids in bytes, as if they shared nothing with their copies.
    package var memoryBytes: Int { list.memoryBytes + (table.first?.memoryBytes ?? 0) }

    /// The most cells of the table that a search may pass.
    var longestRun: Int { table.first?.longestRun ?? 0 }

    /// The id of a slot, even if the slot has been removed.
    package subscript(slot: Slot) -> Bytes { list[slot] }

    /// The ids of some slots, fetched together.
    @inlinable
    @inline(__always)
    public func ids(of slots: [Slot]) -> [Bytes] { list.ids(of: slots) }

    /// Prefetches the data that `ids(of:)` will need.
    @inlinable
    @inline(__always)
    public func prefetch(_ slots: UnsafeBufferPointer<Slot>) { list.prefetch(slots) }

    /// The newest slot with an id. The slot may have been removed.
    package func newestSlot(of id: Bytes) -> Slot? {
        if hasTable { return table[0].find(id, below: Slot(list.count)) { list[$0] } }
        return (0..<Slot(list.count)).last { list[$0].elementsEqual(id) }
    }

    /// Adds the next slot. No live slot may have its id.
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

    /// Notes that a slot has been removed.
    package mutating func noteRemoval() {
        if hasTable { table[0].noteRemoval() }
    }

    /// Notes that a removed slot is back. It is found only if it is still in the table.
    package mutating func noteReturn() {
        if hasTable { table[0].noteReturn() }
    }

    /// Adds the next slot. It cannot be found by its id before `indexAll`.
    package mutating func appendUnindexed(_ id: Bytes) { list.append(id) }

    /// Ends a sequence of `appendUnindexed` calls: builds the table in one pass, if there are
    /// enough slots.
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
