import PersistentStructures
import QueryLanguage

extension CellPredicate {
    /// The truth of the test for each of some slots. If values repeat, each value is tested once.
    package func decide(
        _ slots: Slots, in column: Column, _ truths: UnsafeMutablePointer<Truth>
    ) {
        switch column.cells {
        case .bytes(let codes) where column.palette.count < slots.count:
            decide(slots, codes, in: column, truths)
        case .shorts(let codes) where column.palette.count < slots.count:
            decide(slots, codes, in: column, truths)
        case .bytes, .shorts, .wide:
            var position = 0
            column.forEachCell(of: slots) { cell in
                truths[position] = truth(cell, in: column)
                position += 1
            }
        }
    }

    @inline(__always)
    private func decide<Code: FixedWidthInteger>(
        _ slots: Slots, _ codes: PersistentArray<Code>, in column: Column,
        _ truths: UnsafeMutablePointer<Truth>
    ) {
        let palette = column.palette
        withUnsafeTemporaryAllocation(of: Truth.self, capacity: palette.count) { known in
            for code in 0..<palette.count { known[code] = truth(palette.cells[code], in: column) }
            var position = 0
            codes.forEach(at: slots) {
                truths[position] = known[Int($0)]
                position += 1
            }
        }
    }
}

extension Column {
    /// Calls `body` with the cell of each slot, in the order of the slots.
    @inlinable
    @inline(__always)
    public func forEachCell(of slots: Slots, _ body: (Cell) -> Void) {
        switch cells {
        case .bytes(let codes):
            let cells = palette.cells
            codes.forEach(at: slots) { body(cells[Int($0)]) }
        case .shorts(let codes):
            let cells = palette.cells
            codes.forEach(at: slots) { body(cells[Int($0)]) }
        case .wide(let cells): cells.forEach(at: slots, body)
        }
    }
}

extension Column {
    /// The slots that pass a test; slots without an object may be among them. Nil for a wide column,
    /// in which each cell has to be tested.
    package func slots(passing test: CellPredicate) -> SlotSet? {
        func passes(_ code: Int) -> Bool { test.matches(palette.cells[code], in: self) }
        switch cells {
        case .bytes(let codes): return SlotSet(of: codes, below: palette.count, where: passes)
        case .shorts(let codes): return SlotSet(of: codes, below: palette.count, where: passes)
        case .wide: return nil
        }
    }
}
