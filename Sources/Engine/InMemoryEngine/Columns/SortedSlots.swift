import PersistentStructures

/// Slots in the order of the cells that they had when they were inserted; equal cells by slot.
struct SortedSlots: Sendable {
    private(set) var cells: [Cell] = []
    private(set) var slots: [Slot] = []

    var count: Int { slots.count }

    var memoryBytes: Int { cells.capacity * 8 + slots.capacity * 4 }

    /// The live slots, sorted by their cells in a column.
    ///
    /// - Complexity: O(n log n).
    init(_ column: Column, isAlive: (Slot) -> Bool) {
        var keyed: [(leading: UInt64, cell: Cell, slot: Slot)] = []
        keyed.reserveCapacity(column.slotCount)
        for slot in 0..<Slot(column.slotCount) where isAlive(slot) {
            let cell = column.cell(of: slot)
            keyed.append((column.leading(cell), cell, slot))
        }
        let isExact = column.leadingIsExact
        keyed.sort { a, b in
            if a.leading != b.leading { return a.leading < b.leading }
            let order = isExact ? 0 : column.order(a.cell, b.cell)
            return order == 0 ? a.slot < b.slot : order < 0
        }
        cells = keyed.map(\.cell)
        slots = keyed.map(\.slot)
    }

    init() {}

    mutating func reserve(_ count: Int) {
        cells.reserveCapacity(count)
        slots.reserveCapacity(count)
    }

    mutating func append(_ slot: Slot, _ cell: Cell) {
        cells.append(cell)
        slots.append(slot)
    }

    mutating func insert(_ slot: Slot, _ cell: Cell, in column: Column) {
        let position = self.position(of: slot, cell, in: column)
        cells.insert(cell, at: position)
        slots.insert(slot, at: position)
    }

    /// Removes a slot that was inserted with this cell, if it is present.
    mutating func remove(_ slot: Slot, _ cell: Cell, in column: Column) {
        let position = self.position(of: slot, cell, in: column)
        guard position < count, slots[position] == slot else { return }
        cells.remove(at: position)
        slots.remove(at: position)
    }

    /// The first place that is not before a slot with this cell.
    func position(of slot: Slot, _ cell: Cell, in column: Column) -> Int {
        (0..<count).firstPosition { other in
            let order = column.order(cells[other], cell)
            return order < 0 || order == 0 && slots[other] < slot
        }
    }

    /// The first place after a bound.
    func firstPosition(behind bound: ColumnBound, in column: Column) -> Int {
        (0..<count).firstPosition { bound.side(cells[$0], column) < 0 }
    }

    /// The places at one end of a range whose cells are equal in order to the cell at that end. The
    /// search doubles its steps, so small groups are cheap.
    func group(at end: WalkEnd, of range: Range<Int>, in column: Column) -> Range<Int> {
        let edge = end == .low ? range.lowerBound : range.upperBound - 1
        let value = cells[edge]
        // Distances from the edge: `near` is known to be equal, `far` is known not to be.
        var (near, far) = (0, 1)
        func isEqual(_ steps: Int) -> Bool {
            steps < range.count
                && column.order(cells[end == .low ? edge + steps : edge - steps], value) == 0
        }
        while isEqual(far) { (near, far) = (far, far * 2) }
        near = (near + 1..<far).firstPosition(where: isEqual) - 1
        return end == .low ? edge..<edge + near + 1 : edge - near..<edge + 1
    }
}

/// The end of its range from which a walk takes slots.
enum WalkEnd {
    case low, high
}
