import PersistentStructures
import QueryLanguage

extension CellPredicate {
    /// The truth of the test for each of some slots. If values repeat, each value is tested once.
    ///
    /// - Parameter mayTest: whether a text of so many bytes may be tested; if not, it does not pass.
    ///   It is not called for tests of bits.
    package func decide(
        _ slots: Slots, in column: Column, _ truths: UnsafeMutablePointer<Truth>,
        while mayTest: (Int) -> Bool
    ) {
        switch column.cells {
        case .bytes(let codes) where column.palette.count < slots.count:
            decide(slots, codes, in: column, truths, mayTest)
        case .shorts(let codes) where column.palette.count < slots.count:
            decide(slots, codes, in: column, truths, mayTest)
        case .bytes, .shorts, .wide:
            var position = 0
            column.forEachCell(of: slots) { cell in
                truths[position] = truth(cell, in: column, while: mayTest)
                position += 1
            }
        }
    }

    fileprivate func truth(_ cell: Cell, in column: Column, while mayTest: (Int) -> Bool) -> Truth {
        if case .strings = match, cell.coded == .string,
            !mayTest(testedBytes(column.bytes(of: cell).count))
        {
            return .no
        }
        return truth(cell, in: column)
    }

    @inline(__always)
    private func decide<Code: FixedWidthInteger>(
        _ slots: Slots, _ codes: PersistentArray<Code>, in column: Column,
        _ truths: UnsafeMutablePointer<Truth>, _ mayTest: (Int) -> Bool
    ) {
        let palette = column.palette
        withUnsafeTemporaryAllocation(of: Truth.self, capacity: palette.count) { known in
            for code in 0..<palette.count {
                known[code] = truth(palette.cells[code], in: column, while: mayTest)
            }
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
    ///
    /// - Parameter mayTest: whether a text of so many bytes may be tested; if not, it does not pass.
    package func slots(passing test: CellPredicate, while mayTest: (Int) -> Bool) -> SlotSet? {
        func passes(_ code: Int) -> Bool {
            test.truth(palette.cells[code], in: self, while: mayTest) == .yes
        }
        switch cells {
        case .bytes(let codes): return SlotSet(of: codes, below: palette.count, where: passes)
        case .shorts(let codes): return SlotSet(of: codes, below: palette.count, where: passes)
        case .wide: return nil
        }
    }
}
