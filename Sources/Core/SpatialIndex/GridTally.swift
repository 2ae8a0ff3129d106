import Geodesy
import PersistentStructures

/// Slots counted by the cells of a window of the world's grid.
///
///     var tally = GridTally(GridWindow(level: 4), atMost: 4_096)
///     index.count(into: &tally)
///     for (cell, sum) in tally.sorted() { … }
///
/// A slot with several points counts once in each cell in which it has one.
public struct GridTally {
    /// What a cell has.
    public struct Sum: Sendable, BitwiseCopyable {
        /// The number of slots.
        public fileprivate(set) var count = 0
        fileprivate var points = 0
        /// The sums of the points' columns and rows on the finest level.
        fileprivate var (x, y): (UInt64, UInt64) = (0, 0)
        /// One of the slots.
        public fileprivate(set) var slot: Slot = 0

        /// The mean of the slots' points in the cell.
        public var center: Coordinate {
            WorldGrid.place(x: Double(x) / Double(points), y: Double(y) / Double(points))
        }
    }

    /// A slot in a cell of the window's level, or of the finest.
    private struct Counted: Hashable {
        let slot: Slot
        let cell: GridCell
        let isFinest: Bool
    }

    /// The cells that are counted.
    public let window: GridWindow
    /// The most cells that it may have.
    private let cellLimit: Int
    /// A hash table with linear probing: a cell's key plus one, or 0.
    private var keys: [UInt64]
    private var sums: [Sum]
    /// The number of cells that have something.
    public private(set) var cellCount = 0
    /// The slots with several points that have been counted.
    private var counted: Set<Counted> = []
    /// The entry that was used last: neighbours are often in one cell.
    private var recent = 0

    /// A tally of nothing yet.
    ///
    /// - Parameter cellLimit: the most cells that it may have; with more, `isOverfull` becomes true.
    public init(_ window: GridWindow, atMost cellLimit: Int) {
        self.window = window
        self.cellLimit = cellLimit
        var capacity = 64
        while capacity < 2 * min(cellLimit, 1 << (2 * min(window.level, 15))) { capacity *= 2 }
        keys = Array(repeating: 0, count: capacity)
        sums = Array(repeating: Sum(), count: capacity)
    }

    /// Whether there are more cells than it may have. It counts nothing more then.
    public var isOverfull: Bool { cellCount > cellLimit }

    /// Counts a slot at one of its points.
    ///
    /// - Parameter isOneOfSeveral: whether the slot has other points, which may be in the same cell.
    @inline(__always)
    public mutating func add(_ slot: Slot, at place: WorldGrid, isOneOfSeveral: Bool) {
        let cell = place.cell(level: window.level)
        guard window.contains(cell) else { return }
        var isNew = true
        if isOneOfSeveral {
            let point = GridCell(column: place.x, row: place.y)
            // A place that an object has twice counts once in the mean.
            guard note(slot, in: point, isFinest: true) else { return }
            isNew = note(slot, in: cell, isFinest: false)
        }
        add(isNew ? 1 : 0, points: 1, x: UInt64(place.x), y: UInt64(place.y), slot, to: cell)
    }

    /// - Returns: whether it was not noted before.
    private mutating func note(_ slot: Slot, in cell: GridCell, isFinest: Bool) -> Bool {
        counted.insert(Counted(slot: slot, cell: cell, isFinest: isFinest)).inserted
    }

    /// Counts slots that are in one cell of the window.
    @inline(__always)
    mutating func add(
        _ count: Int, points: Int, x: UInt64, y: UInt64, _ slot: Slot, to cell: GridCell
    ) {
        guard let position = position(of: cell) else { return }
        sums[position].count += count
        sums[position].points += points
        sums[position].x += x
        sums[position].y += y
        sums[position].slot = slot
    }

    /// The entry of a cell, made if need be; nil if there are too many.
    @inline(__always)
    private mutating func position(of cell: GridCell) -> Int? {
        let key = UInt64(cell.row) << 32 | UInt64(cell.column) + 1
        if keys[recent] == key { return recent }
        var position = Int(truncatingIfNeeded: (key &* 0x9E37_79B9_7F4A_7C15) >> 32)
        while true {
            position &= keys.count - 1
            if keys[position] == key { break }
            if keys[position] == 0 {
                cellCount += 1
                guard !isOverfull else { return nil }
                keys[position] = key
                break
            }
            position += 1
        }
        recent = position
        return position
    }

    /// What the cells have, by row, then by column.
    public func sorted() -> [(cell: GridCell, sum: Sum)] {
        keys.indices.filter { keys[$0] != 0 }
            .sorted { keys[$0] < keys[$1] }
            .map { position in
                let key = keys[position] - 1
                let cell = GridCell(
                    column: UInt32(truncatingIfNeeded: key), row: UInt32(key >> 32))
                return (cell, sums[position])
            }
    }
}

extension PointIndex {
    /// Counts the slots by the cells of a tally's window, as far as the tally takes more cells.
    ///
    /// Nodes that lie wholly in one cell are counted unvisited, in trees all of whose entries are
    /// live and of different slots.
    ///
    /// - Parameters:
    ///   - isCounted: whether to count a slot; nil to count all.
    ///   - isOver: asked now and then; true ends the count.
    /// - Returns: false if `isOver` has ended it.
    public func count(
        into tally: inout GridTally, where isCounted: ((Slot) -> Bool)? = nil,
        until isOver: () -> Bool = { false }
    ) -> Bool {
        for entry in delta where isCounted?(entry.slot) ?? true {
            let place = WorldGrid(latitude: entry.latitude, longitude: entry.longitude)
            tally.add(entry.slot, at: place, isOneOfSeveral: Stamp.isOneOfSeveral(entry.stamp))
        }
        for record in tiers {
            let count = TierCount(record: record, index: self, isCounted: isCounted)
            guard count.run(into: &tally, until: isOver) else { return false }
        }
        return true
    }

    /// The memory of all grids of all indexes, which exist for trees that were counted by cells.
    public static var gridBytes: Int { TierGrid.allBytes }
}

/// The count of one tree by cells.
private struct TierCount {
    let record: TierRecord
    let index: PointIndex
    let isCounted: ((Slot) -> Bool)?

    func run(into tally: inout GridTally, until isOver: () -> Bool) -> Bool {
        let tree = record.tier.tree
        let grid = record.tier.grid
        let takesWholeNodes = record.isPlain && isCounted == nil
        let top = tree.levels - 1
        var pending = (0..<tree.nodeCount(level: top)).map { (node: $0, level: top) }
        var pace = Pace()
        while let (node, level) = pending.popLast(), !tally.isOverfull {
            guard !pace.isOver(isOver) else { return false }
            let extent = grid.nodes[level][node]
            guard extent.meets(tally.window) else { continue }
            if takesWholeNodes, let cell = extent.cell(in: tally.window) {
                let entries = tree.entries(below: node, level: level)
                let first = Leaf(base: tree.leaf(entries.lowerBound / TierLayout.fanout))
                tally.add(
                    entries.count, points: entries.count, x: extent.sumX, y: extent.sumY,
                    first.slot(0), to: cell)
            } else if level == 0 {
                add(leaf: node, grid, to: &tally)
            } else {
                let first = node * TierLayout.fanout
                let children = tree.childCount(ofGroup: node, level: level - 1)
                for child in first..<first + children { pending.append((child, level - 1)) }
            }
        }
        return true
    }

    private func add(leaf number: Int, _ grid: TierGrid, to tally: inout GridTally) {
        let leaf = Leaf(base: record.tier.tree.leaf(number))
        for lane in 0..<record.tier.tree.entryCount(ofLeaf: number) {
            guard index.isLive(leaf, lane, of: record) else { continue }
            let slot = leaf.slot(lane)
            guard isCounted?(slot) ?? true else { continue }
            tally.add(
                slot, at: grid.places[number * TierLayout.fanout + lane],
                isOneOfSeveral: record.tier.hasSeveral && Stamp.isOneOfSeveral(leaf.stamp(lane)))
        }
    }
}
