import CGlibc
import Glibc

/// From an id's bytes to its slot: a hash table of slots, open addressing with linear probing.
///
/// The ids themselves live elsewhere, far apart; whoever calls says how to find them. So each cell
/// has a tag, eight bits of the id's hash: an id that is not there is known not to be without a look
/// at any other but for one in some hundred.
///
/// A value whose copies share their cells, what is inserted later included: an insertion copies
/// nothing. A cell only says that its slot may have the id. Who looks for an id compares it, passes
/// over slots that it does not know of, and takes the newest; so what became of a slot since, and what
/// a transaction left that failed, misleads nobody. Slots are never taken out; those that are wanted
/// no more stay behind when the table grows.
///
/// A table that is three quarters full gets a larger one beside it, into which each insertion moves
/// some cells: none waits for all of them.
///
/// - Complexity: O(1) expected; hashes are seeded per process, so no client can make them collide.
///   6.7 to 13.3 bytes a slot, 20 while it grows.
/// - Note: One thread at a time inserts, into whichever copy; readers need no lock.
struct IDTable: Sendable {
    private var cells = Cells.none
    /// Slots that are wanted: what a larger table needs room for.
    private var slots = 0
    /// The table before this one, of which the cells before `moved` are in this one too.
    private var former = Cells.none
    private var moved = 0

    private static let smallest = 16
    /// Cells of the former table that are moved before an insertion. With the size that `beginGrowth` gives,
    /// all are moved before the table is full again, unless failed transactions have filled it.
    private static let movedAtOnce = 16

    /// A table without slots; it allocates nothing.
    init() {}

    /// A table of the slots below a count, as far as they are wanted, made in one go.
    init(slotCount: Int, where isWanted: (Slot) -> Bool, _ idOf: (Slot) -> Bytes) {
        cells = Cells(count: max(Self.smallest, slotCount + slotCount / 2))
        // The homes of some ids are worked out before any is looked at: then they come together.
        withUnsafeTemporaryAllocation(of: Home.self, capacity: 16) { homes in
            for first in stride(from: 0, to: slotCount, by: 16) {
                let group = Slot(first)..<Slot(min(first + 16, slotCount))
                for slot in group {
                    homes.initializeElement(
                        at: Int(slot) - first, to: Home(idOf(slot), in: cells.count))
                }
                for slot in group where isWanted(slot) {
                    cells.append(slot, homes[Int(slot) - first])
                    slots += 1
                }
            }
        }
    }

    /// What the table occupies, in bytes, as if it shared nothing with its copies.
    var memoryBytes: Int { cells.memoryBytes + former.memoryBytes }

    /// The newest slot with an id, of those below a limit: those that the caller knows of.
    ///
    /// - Parameter idOf: the id of a slot below the limit, one that is wanted no more too.
    func find(_ id: Bytes, below limit: Slot, _ idOf: (Slot) -> Bytes) -> Slot? {
        cells.find(id, below: limit, idOf) ?? former.find(id, below: limit, idOf)
    }

    /// Adds the next slot; no slot before it that is wanted has its id.
    ///
    /// - Parameters:
    ///   - isWanted: whether a slot before it should stay in a table that grows.
    ///   - idOf: the id of a slot before it, one that is wanted no more too.
    mutating func insert(
        _ slot: Slot, id: Bytes, where isWanted: (Slot) -> Bool, _ idOf: (Slot) -> Bytes
    ) {
        if isMoving {
            if cells.hasRoom(for: Self.movedAtOnce + 1) {
                moveSome(below: slot, where: isWanted, idOf)
            } else {
                self = IDTable(slotCount: Int(slot), where: isWanted, idOf)
            }
        } else if !cells.hasRoom(for: 1) {
            beginGrowth()
        }
        cells.insert(slot, id, idOf)
        slots += 1
    }

    /// Says that a slot is wanted no more.
    mutating func noteRemoval() { slots -= 1 }

    private var isMoving: Bool { former.count > 0 }

    // With s slots in c cells, at most 3c/4, the new table has 5s/2 + c/8 cells: before they are
    // three quarters full it takes 7s/8 + 3c/32 insertions, and c/16 move everything.
    private mutating func beginGrowth() {
        former = cells
        moved = 0
        cells = Cells(count: max(Self.smallest, slots * 5 / 2 + former.count / 8 + 1))
    }

    /// Moves some cells into the larger table.
    private mutating func moveSome(
        below limit: Slot, where isWanted: (Slot) -> Bool, _ idOf: (Slot) -> Bytes
    ) {
        let end = min(moved + Self.movedAtOnce, former.count)
        withUnsafeTemporaryAllocation(
            of: (slot: Slot, id: Bytes).self, capacity: Self.movedAtOnce
        ) { taken in
            // The ids lie far apart: each is asked for before the first is read.
            var count = 0
            for cell in moved..<end {
                guard let slot = former.slot(in: cell), slot < limit, isWanted(slot) else {
                    continue
                }
                let id = idOf(slot)
                gb_prefetch(id.baseAddress)
                taken.initializeElement(at: count, to: (slot, id))
                count += 1
            }
            for (slot, id) in taken[..<count] { cells.insert(slot, id, idOf) }
        }
        moved = end
        if moved == former.count { former = .none }
    }
}

/// What the tag of an empty cell says; those of others are eight bits of a hash.
private let emptyTag: UInt8 = 0

/// Where an id belongs in a table, by its hash, and its tag.
private struct Home: BitwiseCopyable {
    let cell: Int
    let tag: UInt8

    init(_ id: Bytes, in count: Int) {
        var hasher = Hasher()
        hasher.combine(bytes: UnsafeRawBufferPointer(id))
        let hash = UInt64(UInt(bitPattern: hasher.finalize()))
        // The high bits say where in the table, the low ones are the tag.
        cell = Int(hash.multipliedFullWidth(by: UInt64(count)).high)
        tag = max(UInt8(truncatingIfNeeded: hash), emptyTag + 1)
    }
}

/// The cells of one table: a tag each, and the slots of those that are not empty.
///
/// `@unchecked Sendable`: one thread at a time writes, while others read. A tag is written after its
/// slot and never again; a slot gives way to a newer one of the same id when it has a second cell,
/// farther from the id's home: who has passed the first finds it there.
private final class Cells: @unchecked Sendable {
    let count: Int
    private let slots: UnsafeMutablePointer<UInt32>
    private let tags: UnsafeMutablePointer<UInt8>
    private var used = 0

    static let none = Cells(count: 0)

    init(count: Int) {
        self.count = count
        // Zeroes that nothing has written yet take no memory.
        guard let memory = calloc(max(count, 1), 5) else { fatalError("out of memory") }
        slots = memory.bindMemory(to: UInt32.self, capacity: count)
        tags = (memory + 4 * count).bindMemory(to: UInt8.self, capacity: count)
    }

    deinit { free(slots) }

    var memoryBytes: Int { count * 5 }

    /// Whether a quarter of the cells stays empty when so many slots are added.
    func hasRoom(for slots: Int) -> Bool { (used + slots) * 4 <= count * 3 }

    /// The slot in a cell that is not empty.
    func slot(in cell: Int) -> Slot? {
        gb_load8(tags + cell) == emptyTag ? nil : gb_load32(slots + cell)
    }

    func find(
        _ id: Bytes, below limit: Slot, _ idOf: (Slot) -> Bytes
    ) -> Slot? {
        guard count > 0 else { return nil }
        let home = Home(id, in: count)
        var newest: Slot?
        _ = run(from: home) { cell, slot in
            if slot < limit, slot >= newest ?? 0, idOf(slot) == id { newest = slot }
        }
        return newest
    }

    /// Adds a slot, larger than those before it with the same id.
    func insert(_ slot: Slot, _ id: Bytes, _ idOf: (Slot) -> Bytes) {
        let home = Home(id, in: count)
        var isThere = false
        var older: (cell: Int, slot: Slot)?
        let end = run(from: home) { cell, other in
            if other == slot {
                isThere = true
            } else if other < slot, other >= older?.slot ?? 0, idOf(other) == id {
                older = (cell, other)
            }
        }
        guard !isThere else { return }
        put(older?.slot ?? slot, home.tag, in: end)
        // So the newest comes first, and whoever looks for it compares no other's id.
        if let older { gb_store32(slots + older.cell, slot) }
    }

    /// Adds a slot with an id that no other has.
    func append(_ slot: Slot, _ home: Home) { put(slot, home.tag, in: run(from: home) { _, _ in }) }

    private func put(_ slot: Slot, _ tag: UInt8, in cell: Int) {
        gb_store32(slots + cell, slot)
        gb_store8(tags + cell, tag)
        used += 1
    }

    /// Calls `body` with the cells from an id's home on that have its tag, and their slots, and returns the
    /// empty one after them.
    private func run(from home: Home, _ body: (_ cell: Int, Slot) -> Void) -> Int {
        var cell = home.cell
        while true {
            let tag = gb_load8(tags + cell)
            if tag == emptyTag { return cell }
            if tag == home.tag { body(cell, gb_load32(slots + cell)) }
            cell = cell + 1 == count ? 0 : cell + 1
        }
    }
}

/// Whether two ids have the same bytes.
private func == (a: Bytes, b: Bytes) -> Bool {
    a.count == b.count && memcmp(a.baseAddress!, b.baseAddress!, a.count) == 0
}
