import SpatialIndex

/// From an id's bytes to its slot: a hash table of slots, open addressing with linear probing.
///
/// The ids themselves live elsewhere; whoever calls says how to find them. A value: a copy shares
/// what neither has changed.
///
/// A table that is three quarters full gets a larger one beside it, into which each insertion moves
/// some cells: no insertion waits for all of them.
///
/// - Complexity: O(1) expected; hashes are seeded per process, so no client can make them collide.
///   5.3 to 7.3 bytes a slot, 12.6 while it grows.
struct IDTable: Sendable {
    private var cells = PersistentArray<UInt32>()
    private var used = 0  // cells that are not empty, removed ones included
    private var slots = 0
    /// The table before this one, of which the cells before `moved` have been emptied.
    private var former = PersistentArray<UInt32>()
    private var moved = 0

    private static let empty: UInt32 = .max
    private static let removed: UInt32 = .max - 1
    private static let smallest = 16
    /// Cells of the former table that an insertion moves. With the size that `beginGrowth` gives,
    /// all are moved before the table is full again.
    private static let movedAtOnce = 16

    typealias Bytes = UnsafeBufferPointer<UInt8>

    /// A table without slots; it allocates nothing.
    init() {}

    /// A table of the slots below a count, as far as they are wanted, made in one go.
    init(slotCount: Int, where isWanted: (Slot) -> Bool, _ idOf: (Slot) -> Bytes) {
        let capacity = max(Self.smallest, slotCount + slotCount / 2)
        let flat = UnsafeMutableBufferPointer<UInt32>.allocate(capacity: capacity)
        defer { flat.deallocate() }
        flat.initialize(repeating: Self.empty)
        // The cells of some ids are worked out before any is looked at: then they come together.
        withUnsafeTemporaryAllocation(of: Int.self, capacity: 16) { wanted in
            for first in stride(from: 0, to: slotCount, by: 16) {
                let group = Slot(first)..<Slot(min(first + 16, slotCount))
                for slot in group {
                    wanted.initializeElement(
                        at: Int(slot) - first, to: Self.cell(idOf(slot), of: capacity))
                }
                for slot in group where isWanted(slot) {
                    var cell = wanted[Int(slot) - first]
                    while flat[cell] != Self.empty { cell = cell + 1 == capacity ? 0 : cell + 1 }
                    flat[cell] = slot
                    slots += 1
                }
            }
        }
        used = slots
        cells = PersistentArray(count: capacity) { first, chunk in
            _ = chunk.initialize(fromContentsOf: flat[first..<first + chunk.count])
        }
    }

    /// What the table occupies, in bytes, as if it shared nothing with its copies.
    var memoryBytes: Int { cells.memoryBytes + former.memoryBytes }

    /// - Parameter id: the id of a slot; removed slots must still have theirs.
    func find(_ id: Bytes, _ idOf: (Slot) -> Bytes) -> Slot? {
        Self.find(id, in: cells, idOf) ?? Self.find(id, in: former, idOf)
    }

    private static func find(
        _ id: Bytes, in cells: PersistentArray<UInt32>, _ idOf: (Slot) -> Bytes
    ) -> Slot? {
        guard cells.count > 0 else { return nil }
        var cell = cell(id, of: cells.count)
        while true {
            let slot = cells[cell]
            if slot == empty { return nil }
            if slot != removed, idOf(slot).elementsEqual(id) { return slot }
            cell = next(cell, in: cells)
        }
    }

    /// Adds a slot whose id is not there yet.
    mutating func insert(_ slot: Slot, id: Bytes, _ idOf: (Slot) -> Bytes) {
        if (used + 1) * 4 > cells.count * 3 { beginGrowth() }
        place(slot, id)
        slots += 1
        moveSome(idOf)
    }

    mutating func remove(_ slot: Slot, id: Bytes) {
        if Self.remove(slot, id, from: &cells) || Self.remove(slot, id, from: &former) {
            slots -= 1
        }
    }

    private static func remove(
        _ slot: Slot, _ id: Bytes, from cells: inout PersistentArray<UInt32>
    ) -> Bool {
        guard cells.count > 0 else { return false }
        var cell = cell(id, of: cells.count)
        while cells[cell] != empty {
            if cells[cell] == slot {
                cells[cell] = removed
                return true
            }
            cell = next(cell, in: cells)
        }
        return false
    }

    /// The cell an id belongs in: its hash as a fraction of the table.
    private static func cell(_ id: Bytes, of count: Int) -> Int {
        var hasher = Hasher()
        hasher.combine(bytes: UnsafeRawBufferPointer(id))
        let hash = UInt64(UInt(bitPattern: hasher.finalize()))
        return Int(hash.multipliedFullWidth(by: UInt64(count)).high)
    }

    private static func next(_ cell: Int, in cells: PersistentArray<UInt32>) -> Int {
        cell + 1 == cells.count ? 0 : cell + 1
    }

    private mutating func place(_ slot: Slot, _ id: Bytes) {
        var cell = Self.cell(id, of: cells.count)
        while cells[cell] != Self.empty { cell = Self.next(cell, in: cells) }
        cells[cell] = slot
        used += 1
    }

    // With s slots in c cells, at most 3c/4, the new table has 5s/3 + c/8 cells: before they are
    // three quarters full it takes s/4 + 3c/32 insertions, and c/16 move everything.
    private mutating func beginGrowth() {
        precondition(former.isEmpty, "a table grows before its former one is moved")
        former = cells
        moved = 0
        cells = PersistentArray()
        cells.resize(
            to: max(Self.smallest, slots * 5 / 3 + former.count / 8 + 1), repeating: Self.empty)
        used = 0
    }

    private mutating func moveSome(_ idOf: (Slot) -> Bytes) {
        guard !former.isEmpty else { return }
        let end = min(moved + Self.movedAtOnce, former.count)
        for cell in moved..<end {
            let slot = former[cell]
            guard slot != Self.empty, slot != Self.removed else { continue }
            place(slot, idOf(slot))
            former[cell] = Self.removed
        }
        moved = end
        if moved == former.count { former = PersistentArray() }
    }
}
