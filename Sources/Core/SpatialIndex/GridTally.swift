import Geodesy
import PersistentStructures

/// Slots counted by the cells of a window of the world's grid.
///
///     var tally = GridTally(GridWindow(level: 4), atMost: 4_096)
///     index.count(into: &tally)
///     for (cell, sum) in tally.sorted() { … }
///
/// A slot with several points counts once in each cell in which it has one.
public struct GridTally: ~Copyable {
    /// What a cell has.
    public struct Sum: Sendable, BitwiseCopyable {
        /// The number of slots.
        public fileprivate(set) var count = 0
        fileprivate var points = 0
        /// The sums of the points' columns and rows on the finest level.
        fileprivate var (x, y): (UInt64, UInt64) = (0, 0)
        /// One of the slots.
        public fileprivate(set) var slot: Slot = 0
        /// Whether `slot` is the number of an entry, until its slot is looked up.
        fileprivate var isEntry = false

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
    /// A cell's key plus one, or 0. A small window has a place for each of its cells, by row, then by
    /// column; for another this is a hash table with linear probing.
    private let keys: UnsafeMutableBufferPointer<UInt64>
    private let sums: UnsafeMutableBufferPointer<Sum>
    /// The number of columns of a small window; nil for another.
    private let width: Int?
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
        while capacity < 2 * cellLimit { capacity *= 2 }
        let cells = window.rows.count * window.columns.count
        width = window.columnsBeyond == nil && cells <= capacity ? window.columns.count : nil
        if width != nil { capacity = cells }
        keys = .allocate(capacity: capacity)
        keys.initialize(repeating: 0)
        sums = .allocate(capacity: capacity)
        sums.initialize(repeating: Sum())
    }

    deinit {
        keys.deallocate()
        sums.deallocate()
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

    /// Counts a slot at its only point.
    ///
    /// - Parameter entry: the number of its entry in a tree; `enterSlots` looks its slot up.
    @inline(__always)
    fileprivate mutating func add(entry: Int, at place: WorldGrid) {
        let cell = place.cell(level: window.level)
        guard window.contains(cell) else { return }
        add(
            1, points: 1, x: UInt64(place.x), y: UInt64(place.y), Slot(entry), isEntry: true,
            to: cell)
    }

    /// Counts slots that are in one cell of the window.
    @inline(__always)
    fileprivate mutating func add(
        _ count: Int, points: Int, x: UInt64, y: UInt64, _ slot: Slot, isEntry: Bool = false,
        to cell: GridCell
    ) {
        guard let position = position(of: cell) else { return }
        // Not in place: Swift 6.3 cannot compile that for a buffer under the thread sanitizer.
        var sum = sums[position]
        sum.count += count
        sum.points += points
        sum.x += x
        sum.y += y
        (sum.slot, sum.isEntry) = (slot, isEntry)
        sums[position] = sum
    }

    /// Replaces the numbers of entries by their slots.
    fileprivate func enterSlots(_ slot: (Int) -> Slot) {
        for position in sums.indices where sums[position].isEntry {
            var sum = sums[position]
            (sum.slot, sum.isEntry) = (slot(Int(sum.slot)), false)
            sums[position] = sum
        }
    }

    /// The entry of a cell of the window, made if need be; nil if there are too many.
    @inline(__always)
    private mutating func position(of cell: GridCell) -> Int? {
        let key = UInt64(cell.row) << 32 | UInt64(cell.column) + 1
        if let width {
            let position =
                Int(cell.row - window.rows.lowerBound) * width
                + Int(cell.column - window.columns.lowerBound)
            return keys[position] == key || enter(key, at: position) ? position : nil
        }
        if keys[recent] == key { return recent }
        var position = Int(truncatingIfNeeded: (key &* 0x9E37_79B9_7F4A_7C15) >> 32)
        while true {
            position &= keys.count - 1
            if keys[position] == key { break }
            if keys[position] == 0 {
                guard enter(key, at: position) else { return nil }
                break
            }
            position += 1
        }
        recent = position
        return position
    }

    /// Makes an entry; returns false if there are too many.
    private mutating func enter(_ key: UInt64, at position: Int) -> Bool {
        cellCount += 1
        guard !isOverfull else { return false }
        keys[position] = key
        return true
    }

    /// What the cells have, by row, then by column.
    public func sorted() -> [(cell: GridCell, sum: Sum)] {
        var used = keys.indices.filter { keys[$0] != 0 }
        if width == nil { used.sort { keys[$0] < keys[$1] } }
        return used.map { position in
            let key = keys[position] - 1
            let cell = GridCell(column: UInt32(truncatingIfNeeded: key), row: UInt32(key >> 32))
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
    /// - Parameter isOver: asked now and then; true ends the count.
    /// - Returns: false if `isOver` has ended it.
    public func count(into tally: inout GridTally, until isOver: () -> Bool = { false }) -> Bool {
        for entry in delta { tally.add(entry) }
        for record in tiers {
            let count = TierCount(record: record, index: self)
            guard count.run(into: &tally, until: isOver) else { return false }
        }
        return true
    }

    /// Counts those slots of a set that have points, by the cells of a tally's window, as far as the
    /// tally takes more cells.
    ///
    /// - Parameter isOver: asked now and then; true ends the count.
    /// - Returns: false if `isOver` has ended it.
    /// - Complexity: O(slots of the set + slots / 64), and once O(n) for each tree.
    public func count(
        _ slots: SlotSet, into tally: inout GridTally, until isOver: () -> Bool = { false }
    ) -> Bool {
        for entry in delta where slots.contains(entry.slot) { tally.add(entry) }
        for record in tiers {
            let count = TierCount(record: record, index: self)
            guard count.run(slots, into: &tally, until: isOver) else { return false }
        }
        return true
    }

    /// The memory of all grids of all indexes, which exist for trees that were counted by cells.
    public static var gridBytes: Int { TierGrid.allBytes }
}

extension GridTally {
    fileprivate mutating func add(_ entry: Entry) {
        let place = WorldGrid(latitude: entry.latitude, longitude: entry.longitude)
        add(entry.slot, at: place, isOneOfSeveral: Stamp.isOneOfSeveral(entry.stamp))
    }
}

/// The count of one tree by cells.
private struct TierCount {
    let record: TierRecord<Tier>
    let index: PointIndex

    func run(into tally: inout GridTally, until isOver: () -> Bool) -> Bool {
        let tree = record.tier.tree
        let grid = record.tier.grid
        let isWhole = grid.extents.withUnsafeBufferPointer { extents in
            walk(grid, extents, &tally, until: isOver)
        }
        // Leaves are scattered in memory; of most none is read before.
        tally.enterSlots { entry in
            Leaf(base: tree.leaf(entry / TierLayout.fanout)).slot(entry % TierLayout.fanout)
        }
        return isWhole
    }

    private func walk(
        _ grid: TierGrid, _ extents: UnsafeBufferPointer<GridExtent>, _ tally: inout GridTally,
        until isOver: () -> Bool
    ) -> Bool {
        let tree = record.tier.tree
        let (isPlain, window) = (record.isPlain, tally.window)
        let top = tree.levels - 1
        var pending = (0..<tree.nodeCount(level: top)).map { (node: $0, level: top) }
        var pace = Pace()
        while let (node, level) = pending.popLast(), !tally.isOverfull {
            guard !pace.isOver(isOver) else { return false }
            let extent = extents[grid.firstNodes[level] + node]
            guard extent.meets(window) else { continue }
            if isPlain, let cell = extent.cell(in: window) {
                let entries = tree.entries(below: node, level: level)
                tally.add(
                    entries.count, points: entries.count, x: extent.sumX, y: extent.sumY,
                    Slot(entries.lowerBound), isEntry: true, to: cell)
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
        let first = number * TierLayout.fanout
        let count = record.tier.tree.entryCount(ofLeaf: number)
        guard !record.isPlain else {
            for entry in first..<first + count { tally.add(entry: entry, at: grid.places[entry]) }
            return
        }
        let leaf = Leaf(base: record.tier.tree.leaf(number))
        for lane in 0..<count where index.isLive(leaf, lane, of: record) {
            tally.add(
                leaf.slot(lane), at: grid.places[first + lane],
                isOneOfSeveral: record.tier.hasSeveral && Stamp.isOneOfSeveral(leaf.stamp(lane)))
        }
    }

    /// Counts the slots of a set.
    func run(_ slots: SlotSet, into tally: inout GridTally, until isOver: () -> Bool) -> Bool {
        let all = record.tier.grid.slotPlaces(of: record.tier.tree)
        let areAllLive = record.dead == 0
        var pace = Pace()
        let isWhole = all.places.withUnsafeBufferPointer { places in
            for (number, group) in all.groups.enumerated() where !tally.isOverfull {
                guard !pace.isOver(isOver) else { return false }
                let ahead = number + SlotPlaces.groupsAhead
                if ahead < all.groups.count { all.groups[ahead].prefetch(places) }
                group.forEach(of: slots) { slot, position in
                    guard areAllLive || isLive(slot) else { return }
                    tally.add(slot, at: places[position], isOneOfSeveral: false)
                }
            }
            return true
        }
        guard isWhole else { return false }
        for (slot, place) in all.others where slots.contains(slot) && isLive(slot) {
            guard !pace.isOver(isOver) else { return false }
            tally.add(slot, at: place, isOneOfSeveral: true)
        }
        return true
    }

    /// Whether the entries that the tree has of a slot are current. All of them have one stamp, and
    /// no other tree has a stamp of these epochs.
    private func isLive(_ slot: Slot) -> Bool {
        record.dead == 0 || record.epochs.contains(Stamp.epoch(index.currentStamp(of: slot)))
    }
}
