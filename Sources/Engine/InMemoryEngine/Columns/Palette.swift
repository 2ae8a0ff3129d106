import CGlibc

/// The distinct cells of a narrow column, numbered in the order of their arrival.
///
/// - Complexity: O(1) expected for a lookup, and for a new cell, whatever shares the palette.
/// - Note: It grows like an arena: older copies never read beyond their own end.
@usableFromInline
struct Palette: Sendable {
    @usableFromInline
    var memory = Memory(capacity: 16)
    private(set) var count = 0

    /// The maximum number of distinct cells in a narrow column.
    static let maximumCount = 1 << 16

    /// The cells by code, valid as long as this palette or a copy of it exists.
    @inlinable
    var cells: UnsafePointer<Cell> { UnsafePointer(memory.cells) }

    /// The memory of the palette, in bytes.
    var memoryBytes: Int { memory.capacity * 16 }

    func code(of cell: Cell) -> UInt16? { memory.code(of: cell, below: count) }

    mutating func append(_ cell: Cell) -> UInt16 {
        if !memory.hasRoom(behind: count) {
            let capacity = count < memory.capacity ? memory.capacity : 2 * count
            memory = Memory(capacity: capacity, copying: memory, count)
        }
        let code = UInt16(count)
        memory.put(cell, at: code)
        count += 1
        return code
    }

    /// The cells, and a hash table of their codes with open addressing, of twice their number.
    ///
    /// A code in the table only says that its cell may be the one that is looked for. So those that
    /// came after the end of a copy, and the remains of failed transactions, are harmless.
    ///
    /// `@unchecked Sendable`: cells before a palette's end are never written again. After the end,
    /// only the newest palette of the lineage writes, on the writer's thread. A place in the table is
    /// written once, after its cell.
    @usableFromInline
    final class Memory: @unchecked Sendable {
        @usableFromInline
        let cells: UnsafeMutablePointer<Cell>
        let capacity: Int
        /// Each code plus one; 0 where there is none.
        private let table: UnsafeMutablePointer<UInt32>
        private var used = 0

        /// - Parameter capacity: a power of two.
        init(capacity: Int) {
            cells = .allocate(capacity: capacity)
            table = .allocate(capacity: 2 * capacity)
            table.initialize(repeating: 0, count: 2 * capacity)
            self.capacity = capacity
        }

        deinit {
            cells.deallocate()
            table.deallocate()
        }

        /// Whether there is room for another cell, in the table too: failed transactions may have used
        /// it.
        func hasRoom(behind count: Int) -> Bool { count < capacity && used * 4 < capacity * 6 }

        func code(of cell: Cell, below count: Int) -> UInt16? {
            var place = home(of: cell)
            while true {
                let entry = gb_load32(table + place)
                if entry == 0 { return nil }
                let code = Int(entry) - 1
                if code < count, cells[code] == cell { return UInt16(code) }
                place = next(place)
            }
        }

        func put(_ cell: Cell, at code: UInt16) {
            cells[Int(code)] = cell
            var place = home(of: cell)
            while table[place] != 0 { place = next(place) }
            gb_store32(table + place, UInt32(code) + 1)
            used += 1
        }

        /// Hashes are seeded per process, so no client can make them collide.
        private func home(of cell: Cell) -> Int { cell.hashValue & (2 * capacity - 1) }

        private func next(_ place: Int) -> Int { (place + 1) & (2 * capacity - 1) }
    }
}

extension Palette.Memory {
    /// The first cells of another palette, with room for more.
    convenience init(capacity: Int, copying other: Palette.Memory, _ count: Int) {
        self.init(capacity: capacity)
        for code in 0..<count { put(other.cells[code], at: UInt16(code)) }
    }
}
