import SpatialIndex

/// From an id's bytes to its slot: a hash table of slots, open addressing with linear probing.
///
/// The ids themselves live elsewhere; whoever calls says how to find them. A value: a copy shares
/// what neither has changed.
///
/// - Complexity: O(1) expected; hashes are seeded per process, so no client can make them collide.
struct IDTable: Sendable {
    private var cells = PersistentArray<UInt32>()
    private var slots = 0
    private var used = 0  // cells that are not empty, removed ones included

    private static let empty: UInt32 = .max
    private static let removed: UInt32 = .max - 1
    private static let smallest = 16

    typealias Bytes = UnsafeBufferPointer<UInt8>

    init() {}

    /// A table of the slots below a count, none of them removed, made in one go.
    init(slotCount: Int, _ idOf: (Slot) -> Bytes) {
        guard slotCount > 0 else { return }
        makeCells(for: slotCount)
        for slot in 0..<Slot(slotCount) { place(slot, idOf(slot)) }
        (slots, used) = (slotCount, slotCount)
    }

    /// - Parameter id: the id of a slot; removed slots must still have theirs.
    func find(_ id: Bytes, _ idOf: (Slot) -> Bytes) -> Slot? {
        var cell = Self.hash(id) & mask
        while cells.count > 0 {
            let slot = cells[cell]
            if slot == Self.empty { return nil }
            if slot != Self.removed, idOf(slot).elementsEqual(id) { return slot }
            cell = (cell + 1) & mask
        }
        return nil
    }

    /// Adds a slot whose id is not there yet.
    mutating func insert(_ slot: Slot, id: Bytes, _ idOf: (Slot) -> Bytes) {
        if (used + 1) * 4 > cells.count * 3 { rebuild(idOf) }
        place(slot, id)
        slots += 1
        used += 1
    }

    mutating func remove(_ slot: Slot, id: Bytes, _ idOf: (Slot) -> Bytes) {
        guard cells.count > 0 else { return }
        var cell = Self.hash(id) & mask
        while cells[cell] != Self.empty {
            if cells[cell] == slot {
                cells[cell] = Self.removed
                slots -= 1
                return
            }
            cell = (cell + 1) & mask
        }
    }

    var memoryBytes: Int { cells.count * 4 }

    private var mask: Int { cells.count - 1 }

    private static func hash(_ id: Bytes) -> Int {
        var hasher = Hasher()
        hasher.combine(bytes: UnsafeRawBufferPointer(id))
        return hasher.finalize()
    }

    private mutating func place(_ slot: Slot, _ id: Bytes) {
        var cell = Self.hash(id) & mask
        while cells[cell] != Self.empty { cell = (cell + 1) & mask }
        cells[cell] = slot
    }

    private mutating func rebuild(_ idOf: (Slot) -> Bytes) {
        var alive: [Slot] = []
        alive.reserveCapacity(slots)
        cells.withChunks { _, chunk in
            for slot in chunk where slot != Self.empty && slot != Self.removed {
                alive.append(slot)
            }
        }
        makeCells(for: slots)
        for slot in alive { place(slot, idOf(slot)) }
        used = slots
    }

    private mutating func makeCells(for slots: Int) {
        var capacity = Self.smallest
        while capacity < (slots + 1) * 2 { capacity *= 2 }
        cells = PersistentArray()
        cells.resize(to: capacity, repeating: Self.empty)
    }
}
