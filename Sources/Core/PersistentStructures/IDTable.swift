import CGlibc
import Glibc
import HashTreeCollections

/// Maps an id's bytes to its slot: a hash table of slots with open addressing and linear probing.
///
/// The ids themselves are stored elsewhere and scattered in memory; the caller provides access to
/// them. Each cell therefore has a tag, eight bits of the id's hash. With the tags, a lookup of an
/// absent id compares another id in only about one case in a hundred.
///
/// The table is a value whose copies share their cells, including cells that are inserted later, so
/// an insertion copies nothing. A cell only says that its slot may have the id. A lookup compares
/// the id, skips slots that its caller does not know, and takes the newest match. Later changes of
/// a slot and the remains of failed transactions are therefore harmless. Slots are never removed
/// from the table; unwanted ones are dropped when the table grows.
///
/// When a table is three quarters full, a larger one is created beside it, and each insertion moves
/// some cells. No insertion waits for all cells to be moved.
///
/// An id that is removed and added again all the time would fill a long run of cells, which every
/// search nearby would have to pass. After some slots it gets no more cells, and its newest slot is
/// kept in `recurring`, of which each copy has its own state.
///
/// - Complexity: O(1) expected. Hashes are seeded per process, so no client can make them collide.
///   The table takes 6.7 to 13.3 bytes a slot, and 20 while it grows.
/// - Note: Only one thread at a time may insert, into any of the copies. Readers need no lock.
struct IDTable: Sendable {
    private var cells = Cells.none
    /// The number of wanted slots, which determines the size of the next table.
    private var slots = 0
    /// The previous table while it is being moved. Its cells before `moved` are also in this table.
    private var former = Cells.none
    private var moved = 0
    /// The newest slots of ids that have as many cells as an id may have.
    private var recurring: TreeDictionary<[UInt8], Slot> = [:]

    private static let smallest = 16
    /// The number of cells of the previous table that are moved before an insertion. With the size
    /// that `beginGrowth` chooses, all of them are moved before the table is full again, unless
    /// failed transactions have filled it.
    private static let movedAtOnce = 16
    /// The most cells with slots of one id.
    private static let cellsPerID = 8
    /// About the memory of an entry of `recurring`.
    private static let recurringBytes = 128

    /// An empty table. It allocates nothing.
    init() {}

    /// A table of the wanted slots below a count, built in one pass.
    init(slotCount: Int, where isWanted: (Slot) -> Bool, _ idOf: (Slot) -> Bytes) {
        cells = Cells(count: max(Self.smallest, slotCount + slotCount / 2))
        // The homes of several ids are computed, and prefetched, before any cell is read, so that
        // memory accesses overlap.
        withUnsafeTemporaryAllocation(of: Home.self, capacity: 16) { homes in
            for first in stride(from: 0, to: slotCount, by: 16) {
                let group = Slot(first)..<Slot(min(first + 16, slotCount))
                for slot in group {
                    let home = Home(idOf(slot), in: cells.count)
                    cells.prefetch(home)
                    homes.initializeElement(at: Int(slot) - first, to: home)
                }
                for slot in group where isWanted(slot) {
                    cells.append(slot, homes[Int(slot) - first])
                    slots += 1
                }
            }
        }
    }

    /// The memory of the table in bytes, as if it shared nothing with its copies.
    var memoryBytes: Int {
        cells.memoryBytes + former.memoryBytes + recurring.count * Self.recurringBytes
    }

    /// The newest slot with an id among the slots below a limit, which are those that the caller
    /// knows.
    ///
    /// - Parameter idOf: returns the id of a slot below the limit, even if the slot is no longer
    ///   wanted.
    func find(_ id: Bytes, below limit: Slot, _ idOf: (Slot) -> Bytes) -> Slot? {
        if !recurring.isEmpty, let slot = recurring[Array(id)] { return slot }
        return cells.find(id, below: limit, idOf) ?? former.find(id, below: limit, idOf)
    }

    /// Adds the next slot. No wanted earlier slot may have its id.
    ///
    /// - Parameters:
    ///   - isWanted: returns whether an earlier slot should be kept when the table grows.
    ///   - idOf: returns the id of an earlier slot, even if the slot is no longer wanted.
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
        let isAdded = cells.insert(slot, id, atMost: Self.cellsPerID, idOf)
        if !isAdded || !recurring.isEmpty && recurring[Array(id)] != nil {
            recurring[Array(id)] = slot
        }
        slots += 1
    }

    /// Notes that a slot is no longer wanted.
    mutating func noteRemoval() { slots -= 1 }

    /// Notes that a slot is wanted again.
    mutating func noteReturn() { slots += 1 }

    /// The most neighbouring cells that are all taken. No search passes more.
    var longestRun: Int { max(cells.longestRun, former.longestRun) }

    private var isMoving: Bool { former.count > 0 }

    // With s slots in c cells (s at most 3c/4), the new table has 5s/2 + c/8 cells. Three quarters
    // of them are full after 7s/8 + 3c/32 insertions, and c/16 insertions move everything.
    private mutating func beginGrowth() {
        former = cells
        moved = 0
        cells = Cells(count: max(Self.smallest, slots * 5 / 2 + former.count / 8 + 1))
    }

    /// Moves some cells to the larger table.
    private mutating func moveSome(
        below limit: Slot, where isWanted: (Slot) -> Bool, _ idOf: (Slot) -> Bytes
    ) {
        let end = min(moved + Self.movedAtOnce, former.count)
        withUnsafeTemporaryAllocation(
            of: (slot: Slot, id: Bytes).self, capacity: Self.movedAtOnce
        ) { taken in
            // The ids are scattered in memory, so all of them are prefetched before the first is
            // read.
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
            for (slot, id) in taken[..<count] { _ = cells.insert(slot, id, atMost: .max, idOf) }
        }
        moved = end
        if moved == former.count { former = .none }
    }
}

/// The tag of an empty cell. Other tags are eight bits of a hash.
private let emptyTag: UInt8 = 0

/// The home cell of an id in a table, and its tag.
private struct Home: BitwiseCopyable {
    let cell: Int
    let tag: UInt8

    init(_ id: Bytes, in count: Int) {
        var hasher = Hasher()
        hasher.combine(bytes: UnsafeRawBufferPointer(id))
        let hash = UInt64(UInt(bitPattern: hasher.finalize()))
        // The high bits of the hash select the cell; the low bits are the tag.
        cell = Int(hash.multipliedFullWidth(by: UInt64(count)).high)
        tag = max(UInt8(truncatingIfNeeded: hash), emptyTag + 1)
    }
}

/// The cells of one table: a tag for each, and the slots of the cells that are not empty.
///
/// `@unchecked Sendable`: one thread at a time writes while others read. A tag is written after its
/// slot and never again. A newer slot with the same id overwrites an older one only after the older
/// one has been written to a second cell, farther from the id's home. A reader that has passed the
/// first cell finds the older slot there.
private final class Cells: @unchecked Sendable {
    let count: Int
    private let slots: UnsafeMutablePointer<UInt32>
    private let tags: UnsafeMutablePointer<UInt8>
    private var used = 0

    static let none = Cells(count: 0)

    init(count: Int) {
        self.count = count
        // Zeroed pages that have not been written yet occupy no memory.
        guard let memory = calloc(max(count, 1), 5) else { fatalError("out of memory") }
        slots = memory.bindMemory(to: UInt32.self, capacity: count)
        tags = (memory + 4 * count).bindMemory(to: UInt8.self, capacity: count)
    }

    deinit { free(slots) }

    var memoryBytes: Int { count * 5 }

    /// Whether a quarter of the cells remains empty after this many slots are added.
    func hasRoom(for slots: Int) -> Bool { (used + slots) * 4 <= count * 3 }

    /// The slot in a cell; nil if the cell is empty.
    func slot(in cell: Int) -> Slot? {
        gb_load8(tags + cell) == emptyTag ? nil : gb_load32(slots + cell)
    }

    func prefetch(_ home: Home) {
        gb_prefetch(tags + home.cell)
        gb_prefetch(slots + home.cell)
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

    /// Adds a slot, unless as many as `limit` have its id. Its number must be greater than those of
    /// earlier slots with the same id.
    ///
    /// - Returns: whether the slot has a cell.
    func insert(_ slot: Slot, _ id: Bytes, atMost limit: Int, _ idOf: (Slot) -> Bytes) -> Bool {
        let home = Home(id, in: count)
        var isThere = false
        var older: (cell: Int, slot: Slot)?
        var alike = 0
        let end = run(from: home) { cell, other in
            if other == slot {
                isThere = true
            } else if other < slot, idOf(other) == id {
                alike += 1
                if other >= older?.slot ?? 0 { older = (cell, other) }
            }
        }
        if isThere { return true }
        guard alike < limit else { return false }
        put(older?.slot ?? slot, home.tag, in: end)
        // The newest slot comes first, so a lookup of it compares no other id.
        if let older { gb_store32(slots + older.cell, slot) }
        return true
    }

    var longestRun: Int {
        PersistentStructures.longestRun(of: count) { tags[$0] != emptyTag }
    }

    /// Adds a slot whose id no other slot has.
    func append(_ slot: Slot, _ home: Home) { put(slot, home.tag, in: run(from: home) { _, _ in }) }

    private func put(_ slot: Slot, _ tag: UInt8, in cell: Int) {
        gb_store32(slots + cell, slot)
        gb_store8(tags + cell, tag)
        used += 1
    }

    /// Calls `body` with each cell that has the tag, starting at an id's home, and with its slot.
    /// Returns the empty cell that ends the search.
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
