import JSONText
import QueryLanguage
import SpatialIndex

/// The values of one field path, by slot: a value whose copies share what has not changed.
///
/// Columns of up to 256 distinct values take a byte a slot, of up to 65,536 two, others eight.
/// Strings, large integers and points are in a dictionary beside the cells.
struct Column: Sendable {
    private(set) var cells: Cells
    private(set) var dictionary = ValueDictionary()
    /// Slots of each narrow code; empty for a wide column.
    private var uses = PersistentArray<UInt32>()
    /// Slots whose value only the document tells.
    private(set) var unknown: Int
    /// Whether an integer beyond 2^53 has ever been among the values.
    private(set) var hasLargeIntegers = false
    /// Slots that hold an array, into which no cell can look.
    private(set) var arrays = 0

    enum Cells: Sendable {
        case bytes(PersistentArray<UInt8>, Palette)
        case shorts(PersistentArray<UInt16>, Palette)
        case wide(PersistentArray<Cell>)
    }

    /// A column whose slots are to be told their values.
    init(slots: Int) {
        var palette = Palette()
        var codes = PersistentArray<UInt8>()
        codes.resize(to: slots, repeating: UInt8(palette.append(.unknown)))
        cells = .bytes(codes, palette)
        uses.append(UInt32(slots))
        unknown = slots
    }

    /// How many slots the column knows of.
    var slotCount: Int {
        switch cells {
        case .bytes(let codes, _): codes.count
        case .shorts(let codes, _): codes.count
        case .wide(let cells): cells.count
        }
    }

    func cell(of slot: Slot) -> Cell {
        switch cells {
        case .bytes(let codes, let palette): palette.cells[Int(codes[Int(slot)])]
        case .shorts(let codes, let palette): palette.cells[Int(codes[Int(slot)])]
        case .wide(let cells): cells[Int(slot)]
        }
    }

    /// How many slots have this cell, where that is counted: in a narrow column.
    func uses(of cell: Cell) -> Int? {
        switch cells {
        case .bytes(_, let palette), .shorts(_, let palette):
            palette.code(of: cell).map { Int(uses[Int($0)]) } ?? 0
        case .wide: nil
        }
    }

    /// How many slots have a cell within bounds, where that is soon added up: in a column of bytes.
    func uses(in bounds: ClosedRange<UInt64>) -> Int? {
        guard case .bytes(_, let palette) = cells else { return nil }
        return (0..<palette.count).reduce(0) { sum, code in
            bounds.contains(palette.cells[code].bits) ? sum + Int(uses[code]) : sum
        }
    }

    /// What the column occupies, in bytes, to some parts in a hundred; O(1).
    var memoryBytes: Int {
        switch cells {
        case .bytes(let codes, let palette):
            codes.count + palette.memoryBytes + dictionary.memoryBytes
        case .shorts(let codes, let palette):
            codes.count * 2 + palette.memoryBytes + dictionary.memoryBytes
        case .wide(let cells): cells.count * 8 + dictionary.memoryBytes
        }
    }

    /// Whether the dictionary holds so many values that nobody has any more that the column is
    /// better made anew.
    var isWorn: Bool { dictionary.count > 2 * slotCount + 1_024 }

    /// Whether no slot has a value.
    var isVacant: Bool { uses(of: .missing) == slotCount }

    // MARK: Writing: in turn, as all copies append to one dictionary and one palette

    /// Puts a value in its slot; a slot behind the last lengthens the column by missing values.
    mutating func set(_ slot: Slot, to value: ColumnValue) {
        set(slot, to: intern(value))
    }

    /// Puts a cell of this very column in a slot.
    mutating func set(_ slot: Slot, to cell: Cell) {
        let place = Int(slot)
        if place >= slotCount { resize(to: place + 1) }
        let old = self.cell(of: slot)
        guard old != cell else { return }
        count(old, -1)
        count(cell, 1)
        write(cell, at: place)
    }

    /// Gives a slot the value that another has in another column.
    mutating func set(_ slot: Slot, from other: Column, _ source: Slot) {
        set(slot, to: translate(other.cell(of: source), of: other))
    }

    /// The values of some slots, ascending, which get the numbers from 0 on. It shares with this column
    /// nothing that a writer appends to, and its dictionary has only what is used.
    ///
    /// - Complexity: O(slots), some nanoseconds each; in a wide column the time of a hash table's look-up.
    func renumbered(_ slots: [Slot]) -> Column {
        var column = Column(slots: 0)
        switch cells {
        case .bytes(let codes, let palette):
            var known = [Cell?](repeating: nil, count: palette.count)
            for (number, slot) in slots.enumerated() {
                column.set(Slot(number), to: translated(Int(codes[Int(slot)]), palette))
            }
            func translated(_ code: Int, _ palette: Palette) -> Cell {
                if let cell = known[code] { return cell }
                known[code] = column.translate(palette.cells[code], of: self)
                return known[code]!
            }
        case .shorts, .wide:
            for (number, slot) in slots.enumerated() { column.set(Slot(number), from: self, slot) }
        }
        return column
    }

    /// A cell of another column as one of this.
    private mutating func translate(_ cell: Cell, of other: Column) -> Cell {
        guard let kind = cell.coded else { return cell }
        if kind == .number { hasLargeIntegers = true }
        return dictionary.intern(kind, other.dictionary.bytes(of: cell))
    }

    private mutating func intern(_ value: ColumnValue) -> Cell {
        guard let kind = value.kind else { return value.cell }
        if kind == .number { hasLargeIntegers = true }
        return value.bytes.withUnsafeBufferPointer {
            dictionary.intern(kind, ValueDictionary.Bytes(rebasing: $0[...]))
        }
    }

    private mutating func resize(to slots: Int) {
        let added = slots - slotCount
        switch cells {
        case .bytes, .shorts:
            let code = code(of: .missing)
            switch cells {
            case .bytes(var codes, let palette):
                cells = .wide(PersistentArray())
                codes.resize(to: slots, repeating: UInt8(code!))
                cells = .bytes(codes, palette)
            case .shorts(var codes, let palette):
                cells = .wide(PersistentArray())
                codes.resize(to: slots, repeating: code!)
                cells = .shorts(codes, palette)
            case .wide: return resize(to: slots)
            }
            uses[Int(code!)] += UInt32(added)
        case .wide(var list):
            cells = .wide(PersistentArray())
            list.resize(to: slots, repeating: .missing)
            cells = .wide(list)
        }
    }

    private mutating func count(_ cell: Cell, _ change: Int) {
        if cell == .unknown { unknown += change }
        if cell.isArray { arrays += change }
    }

    private mutating func write(_ cell: Cell, at place: Int) {
        let code = code(of: cell)
        switch cells {
        case .bytes(var codes, let palette):
            cells = .wide(PersistentArray())  // so that the codes are written in place
            uses[Int(codes[place])] -= 1
            codes[place] = UInt8(code!)
            uses[Int(code!)] += 1
            cells = .bytes(codes, palette)
        case .shorts(var codes, let palette):
            cells = .wide(PersistentArray())
            uses[Int(codes[place])] -= 1
            codes[place] = code!
            uses[Int(code!)] += 1
            cells = .shorts(codes, palette)
        case .wide(var list):
            cells = .wide(PersistentArray())
            list[place] = cell
            cells = .wide(list)
        }
    }

    /// The code of a cell in a narrow column, which may be widened for it; nil once it is wide.
    private mutating func code(of cell: Cell) -> UInt16? {
        switch cells {
        case .bytes(let codes, var palette):
            if let known = palette.code(of: cell) { return known }
            if palette.count == 256 {
                var shorts = PersistentArray<UInt16>()
                codes.withChunks { _, chunk in for code in chunk { shorts.append(UInt16(code)) } }
                cells = .shorts(shorts, palette)
                return code(of: cell)
            }
            cells = .wide(PersistentArray())  // so that the palette is written in place
            let code = palette.append(cell)
            cells = .bytes(codes, palette)
            uses.append(0)
            return code
        case .shorts(let codes, var palette):
            if let known = palette.code(of: cell) { return known }
            if palette.count == Palette.maximumCount || palette.count * 8 > codes.count {
                var list = PersistentArray<Cell>()
                codes.withChunks { _, chunk in
                    for code in chunk { list.append(palette.cells[Int(code)]) }
                }
                cells = .wide(list)
                uses = PersistentArray()
                return nil
            }
            cells = .wide(PersistentArray())
            let code = palette.append(cell)
            cells = .shorts(codes, palette)
            uses.append(0)
            return code
        case .wide: return nil
        }
    }
}
