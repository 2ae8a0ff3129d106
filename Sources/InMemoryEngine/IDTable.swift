import CGlibc
import Glibc
import SpatialIndex

/// From an id's bytes to its slot: a hash table of slots, open addressing with linear probing.
///
/// The ids themselves live elsewhere, far apart; whoever calls says how to find them. So each cell
/// has a tag, eight bits of the id's hash: an id that is not there is known not to be without a look
/// at any other but for one in some hundred. A value: a copy shares what neither has changed.
///
/// A table that is three quarters full gets a larger one beside it, into which `moveSome`, called
/// before each insertion, moves some cells: no insertion waits for all of them.
///
/// - Complexity: O(1) expected; hashes are seeded per process, so no client can make them collide.
///   6.7 to 13.3 bytes a slot, 20 while it grows.
struct IDTable: Sendable {
    private var cells = Cells()
    private var used = 0  // cells that are not empty, removed ones included
    private var slots = 0
    /// The table before this one, of which the cells before `moved` have been emptied.
    private var former = Cells()
    private var moved = 0

    private static let smallest = 16
    /// Cells of the former table that are moved before an insertion. With the size that `beginGrowth` gives,
    /// all are moved before the table is full again.
    private static let movedAtOnce = 16

    typealias Bytes = UnsafeBufferPointer<UInt8>

    /// A table without slots; it allocates nothing.
    init() {}

    /// A table of the slots below a count, as far as they are wanted, made in one go.
    init(slotCount: Int, where isWanted: (Slot) -> Bool, _ idOf: (Slot) -> Bytes) {
        let capacity = max(Self.smallest, slotCount + slotCount / 2)
        let flatSlots = UnsafeMutableBufferPointer<UInt32>.allocate(capacity: capacity)
        let flatTags = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: capacity)
        defer {
            flatSlots.deallocate()
            flatTags.deallocate()
        }
        flatSlots.initialize(repeating: 0)
        flatTags.initialize(repeating: Tag.empty)
        // The homes of some ids are worked out before any is looked at: then they come together.
        withUnsafeTemporaryAllocation(of: Home.self, capacity: 16) { homes in
            for first in stride(from: 0, to: slotCount, by: 16) {
                let group = Slot(first)..<Slot(min(first + 16, slotCount))
                for slot in group {
                    homes.initializeElement(
                        at: Int(slot) - first, to: Home(idOf(slot), in: capacity))
                }
                for slot in group where isWanted(slot) {
                    let home = homes[Int(slot) - first]
                    var cell = home.cell
                    while flatTags[cell] != Tag.empty {
                        cell = cell + 1 == capacity ? 0 : cell + 1
                    }
                    flatTags[cell] = home.tag
                    flatSlots[cell] = slot
                    slots += 1
                }
            }
        }
        used = slots
        cells = Cells(slots: flatSlots, tags: flatTags)
    }

    /// What the table occupies, in bytes, as if it shared nothing with its copies.
    var memoryBytes: Int { cells.memoryBytes + former.memoryBytes }

    /// - Parameter id: the id of a slot; removed slots must still have theirs.
    func find(_ id: Bytes, _ idOf: (Slot) -> Bytes) -> Slot? {
        cells.find(id, idOf) ?? former.find(id, idOf)
    }

    /// Adds a slot whose id is not there yet.
    mutating func insert(_ slot: Slot, id: Bytes) {
        if (used + 1) * 4 > cells.count * 3 { beginGrowth() }
        cells.place(slot, id)
        used += 1
        slots += 1
    }

    mutating func remove(_ slot: Slot, id: Bytes) {
        if cells.remove(slot, id) || former.remove(slot, id) { slots -= 1 }
    }

    // With s slots in c cells, at most 3c/4, the new table has 5s/2 + c/8 cells: before they are
    // three quarters full it takes 7s/8 + 3c/32 insertions, and c/16 move everything.
    private mutating func beginGrowth() {
        precondition(former.count == 0, "a table grows before its former one is moved")
        former = cells
        moved = 0
        cells = Cells(count: max(Self.smallest, slots * 5 / 2 + former.count / 8 + 1))
        used = 0
    }

    /// Whether there are cells to be moved.
    var isMoving: Bool { former.count > 0 }

    /// Moves some cells into the larger table.
    mutating func moveSome(_ idOf: (Slot) -> Bytes) {
        let end = min(moved + Self.movedAtOnce, former.count)
        withUnsafeTemporaryAllocation(
            of: (slot: Slot, id: Bytes).self, capacity: Self.movedAtOnce
        ) { taken in
            // The ids lie far apart: each is asked for before the first is read.
            var count = 0
            for cell in moved..<end {
                guard let slot = former.take(cell) else { continue }
                let id = idOf(slot)
                gb_prefetch(id.baseAddress)
                taken.initializeElement(at: count, to: (slot, id))
                count += 1
            }
            for (slot, id) in taken[..<count] { cells.place(slot, id) }
            used += count
        }
        moved = end
        if moved == former.count { former = Cells() }
    }
}

/// What a cell's tag says besides eight bits of a hash.
private enum Tag {
    static let empty: UInt8 = 0
    static let removed: UInt8 = 1
    /// Tags of ids are from here on.
    static let first: UInt8 = 2
}

/// Where an id belongs in a table, by its hash, and its tag.
private struct Home: BitwiseCopyable {
    let cell: Int
    let tag: UInt8

    init(_ id: IDTable.Bytes, in count: Int) {
        var hasher = Hasher()
        hasher.combine(bytes: UnsafeRawBufferPointer(id))
        let hash = UInt64(UInt(bitPattern: hasher.finalize()))
        // The high bits say where in the table, the low ones are the tag.
        cell = Int(hash.multipliedFullWidth(by: UInt64(count)).high)
        tag = max(UInt8(truncatingIfNeeded: hash), Tag.first)
    }
}

/// The cells of one table: tags, and the slots of those that are neither empty nor removed.
private struct Cells: Sendable {
    private var slots = PersistentArray<UInt32>()
    private var tags = PersistentArray<UInt8>()

    init() {}

    init(count: Int) {
        slots.resize(to: count, repeating: 0)
        tags.resize(to: count, repeating: Tag.empty)
    }

    init(slots: UnsafeMutableBufferPointer<UInt32>, tags: UnsafeMutableBufferPointer<UInt8>) {
        self.slots = PersistentArray(count: slots.count) { first, chunk in
            _ = chunk.initialize(fromContentsOf: slots[first..<first + chunk.count])
        }
        self.tags = PersistentArray(count: tags.count) { first, chunk in
            _ = chunk.initialize(fromContentsOf: tags[first..<first + chunk.count])
        }
    }

    var count: Int { tags.count }

    var memoryBytes: Int { slots.memoryBytes + tags.memoryBytes }

    func find(_ id: IDTable.Bytes, _ idOf: (Slot) -> IDTable.Bytes) -> Slot? {
        guard count > 0 else { return nil }
        let home = Home(id, in: count)
        var cell = home.cell
        while true {
            let tag = tags[cell]
            if tag == Tag.empty { return nil }
            if tag == home.tag {
                let found = idOf(slots[cell])
                if found.count == id.count,
                    memcmp(found.baseAddress!, id.baseAddress!, id.count) == 0
                {
                    return slots[cell]
                }
            }
            cell = next(cell)
        }
    }

    mutating func place(_ slot: Slot, _ id: IDTable.Bytes) {
        let home = Home(id, in: count)
        var cell = home.cell
        while tags[cell] != Tag.empty { cell = next(cell) }
        tags[cell] = home.tag
        slots[cell] = slot
    }

    /// Whether the slot was there.
    mutating func remove(_ slot: Slot, _ id: IDTable.Bytes) -> Bool {
        guard count > 0 else { return false }
        let home = Home(id, in: count)
        var cell = home.cell
        while tags[cell] != Tag.empty {
            if tags[cell] == home.tag, slots[cell] == slot {
                tags[cell] = Tag.removed
                return true
            }
            cell = next(cell)
        }
        return false
    }

    /// Takes a cell's slot out, where it has one.
    mutating func take(_ cell: Int) -> Slot? {
        guard tags[cell] >= Tag.first else { return nil }
        tags[cell] = Tag.removed
        return slots[cell]
    }

    private func next(_ cell: Int) -> Int { cell + 1 == count ? 0 : cell + 1 }
}
