import PersistentStructures

/// The values of one field path, by slot. It is a value type whose copies share all unchanged
/// parts.
///
/// A column uses one byte a slot for up to 256 distinct values, two bytes for up to 65,536, and
/// eight bytes otherwise. Strings, large integers and points are in a dictionary beside the cells.
public struct Column: Sendable {
    @usableFromInline
    private(set) var cells: Cells
    /// Maps the codes of a narrow column to cells.
    @usableFromInline
    private(set) var palette = Palette()
    private(set) var dictionary = ByteDictionary()
    /// The number of slots for each code of a narrow column; empty for a wide column.
    private var uses = PersistentArray<UInt32>()
    /// The number of slots whose value is only in the document.
    package private(set) var unknown: Int
    /// Whether the column has ever held an integer beyond 2^53.
    private(set) var hasLargeIntegers = false
    /// The number of slots that hold an array. A cell does not represent its elements.
    private(set) var arrays = 0

    @usableFromInline
    enum Cells: Sendable {
        case bytes(PersistentArray<UInt8>)
        case shorts(PersistentArray<UInt16>)
        case wide(PersistentArray<Cell>)
    }

    /// A column whose values are all unknown until they are set.
    package init(slots: Int) {
        var codes = PersistentArray<UInt8>()
        codes.resize(to: slots, repeating: UInt8(palette.append(.unknown)))
        cells = .bytes(codes)
        uses.append(UInt32(slots))
        unknown = slots
    }

    /// The number of slots in the column.
    package var slotCount: Int {
        switch cells {
        case .bytes(let codes): codes.count
        case .shorts(let codes): codes.count
        case .wide(let cells): cells.count
        }
    }

    /// The cell of a slot, which must be in the column.
    @inlinable
    public func cell(of slot: Slot) -> Cell {
        switch cells {
        case .bytes(let codes): palette.cells[Int(codes[Int(slot)])]
        case .shorts(let codes): palette.cells[Int(codes[Int(slot)])]
        case .wide(let cells): cells[Int(slot)]
        }
    }

    /// The number of slots with a cell, if the column counts it. Only narrow columns do.
    func uses(of cell: Cell) -> Int? {
        if case .wide = cells { return nil }
        return palette.code(of: cell).map { Int(uses[Int($0)]) } ?? 0
    }

    /// The number of slots with each code of a narrow column; nil for a wide column.
    var usesOfCodes: [Int]? {
        if case .wide = cells { return nil }
        return (0..<palette.count).map { Int(uses[$0]) }
    }

    /// The number of slots with a cell within bounds, if summing is cheap. It is so in a column of
    /// bytes.
    func uses(in bounds: ClosedRange<UInt64>) -> Int? {
        guard case .bytes = cells else { return nil }
        return (0..<palette.count).reduce(0) { sum, code in
            bounds.contains(palette.cells[code].bits) ? sum + Int(uses[code]) : sum
        }
    }

    /// The approximate memory of the column in bytes, accurate to a few per cent; O(1).
    var memoryBytes: Int {
        let cellBytes =
            switch cells {
            case .bytes(let codes): codes.count
            case .shorts(let codes): codes.count * 2
            case .wide(let cells): cells.count * 8
            }
        return cellBytes + palette.memoryBytes + dictionary.memoryBytes
    }

    /// Whether the dictionary holds so many unused values that the column should be rebuilt.
    package var isWorn: Bool { dictionary.count > 2 * slotCount + 1_024 }

    /// Whether no slot has a value.
    package var isVacant: Bool { uses(of: .missing) == slotCount }

    // MARK: Coded values

    /// The mean length of a coded value in bytes; 0 if there is none.
    package var averageBytes: Int { dictionary.averageBytes }

    /// The bytes of a coded value of this column.
    func bytes(of cell: Cell) -> Bytes { dictionary.bytes(at: cell.address) }

    /// The cell of a value in this column, if the column can represent the value.
    package func find(_ value: ColumnValue) -> Cell? {
        guard let kind = value.kind else { return value.cell }
        return value.bytes.withUnsafeBufferPointer { bytes in
            dictionary.address(of: bytes, kind: kind.tag).map { Cell(kind, at: $0) }
        }
    }

    // MARK: Writing: one writer at a time, because all copies append to one dictionary and one
    // palette

    /// Sets the value of a slot. A slot after the last one extends the column with missing values.
    package mutating func set(_ slot: Slot, to value: ColumnValue) {
        set(slot, to: intern(value))
    }

    /// Sets the cell of a slot. The cell must belong to this column.
    package mutating func set(_ slot: Slot, to cell: Cell) {
        let position = Int(slot)
        if position >= slotCount { resize(to: position + 1) }
        let old = self.cell(of: slot)
        guard old != cell else { return }
        count(old, -1)
        count(cell, 1)
        write(cell, at: position)
    }

    /// Copies the value of a slot in another column.
    mutating func set(_ slot: Slot, from other: Column, _ source: Slot) {
        set(slot, to: translate(other.cell(of: source), of: other))
    }

    /// The values of some slots in ascending order, renumbered from 0. The result shares nothing
    /// with this column that a writer appends to, and its dictionary holds only used values.
    ///
    /// - Complexity: O(slots), some nanoseconds each; in a wide column one hash table lookup each.
    func renumbered(_ slots: [Slot]) -> Column {
        var column = Column(slots: 0)
        switch cells {
        case .bytes(let codes):
            var known = [Cell?](repeating: nil, count: palette.count)
            for (number, slot) in slots.enumerated() {
                let code = Int(codes[Int(slot)])
                let cell = known[code] ?? column.translate(palette.cells[code], of: self)
                known[code] = cell
                column.set(Slot(number), to: cell)
            }
        case .shorts, .wide:
            for (number, slot) in slots.enumerated() { column.set(Slot(number), from: self, slot) }
        }
        return column
    }

    /// Translates a cell of another column to a cell of this one.
    private mutating func translate(_ cell: Cell, of other: Column) -> Cell {
        cell.coded.map { intern($0, other.bytes(of: cell)) } ?? cell
    }

    private mutating func intern(_ value: ColumnValue) -> Cell {
        guard let kind = value.kind else { return value.cell }
        return value.bytes.withUnsafeBufferPointer { intern(kind, $0) }
    }

    /// The cell of a coded value; `unknown` if the value is too long for the dictionary.
    private mutating func intern(_ kind: Cell.Coded, _ bytes: Bytes) -> Cell {
        if kind == .number { hasLargeIntegers = true }
        return dictionary.intern(bytes, kind: kind.tag).map { Cell(kind, at: $0) } ?? .unknown
    }

    private mutating func count(_ cell: Cell, _ change: Int) {
        if cell == .unknown { unknown += change }
        if cell == .array { arrays += change }
    }

    private mutating func resize(to slots: Int) {
        let code = code(of: .missing)
        if let code { uses[Int(code)] += UInt32(slots - slotCount) }
        edit(
            bytes: { $0.resize(to: slots, repeating: UInt8(code!)) },
            shorts: { $0.resize(to: slots, repeating: code!) },
            wide: { $0.resize(to: slots, repeating: .missing) })
    }

    private mutating func write(_ cell: Cell, at position: Int) {
        let code = code(of: cell)
        var former = 0
        func put<Code: FixedWidthInteger>(_ codes: inout PersistentArray<Code>) {
            former = Int(codes[position])
            codes[position] = Code(code!)
        }
        edit(bytes: put, shorts: put, wide: { $0[position] = cell })
        guard let code else { return }
        uses[former] -= 1
        uses[Int(code)] += 1
    }

    /// Changes the cells in place. They are moved out meanwhile, so that nothing shares them.
    private mutating func edit(
        bytes: (inout PersistentArray<UInt8>) -> Void,
        shorts: (inout PersistentArray<UInt16>) -> Void,
        wide: (inout PersistentArray<Cell>) -> Void
    ) {
        switch exchange(&cells, with: .wide(PersistentArray())) {
        case .bytes(var codes):
            bytes(&codes)
            cells = .bytes(codes)
        case .shorts(var codes):
            shorts(&codes)
            cells = .shorts(codes)
        case .wide(var list):
            wide(&list)
            cells = .wide(list)
        }
    }

    /// The code of a cell in a narrow column, which is widened if necessary; nil if the column is
    /// wide.
    private mutating func code(of cell: Cell) -> UInt16? {
        if case .wide = cells { return nil }
        if let known = palette.code(of: cell) { return known }
        switch cells {
        case .bytes(let codes) where palette.count == 256:
            var shorts = PersistentArray<UInt16>()
            for code in codes { shorts.append(UInt16(code)) }
            cells = .shorts(shorts)
            return code(of: cell)
        case .shorts(let codes)
        where palette.count == Palette.maximumCount || palette.count * 8 > codes.count:
            var list = PersistentArray<Cell>()
            for code in codes { list.append(palette.cells[Int(code)]) }
            (cells, palette, uses) = (.wide(list), Palette(), PersistentArray())
            return nil
        case .bytes, .shorts, .wide:
            uses.append(0)
            return palette.append(cell)
        }
    }
}
