import Geodesy
import Synchronization

/// Where the entries of a tree lie on the world's grid, so that they are counted by cells without a
/// logarithm for each, and whole nodes without a look at their entries.
///
/// Node i of level k covers what node i of the tree's level k covers.
///
/// - Complexity: O(n) to make, some 60 nanoseconds an entry; about 10 bytes an entry, and 8 more once
///   `slotPlaces(of:)` has been asked for.
final class TierGrid: Sendable {
    /// The places of the entries, in the order of the leaves.
    let places: [WorldGrid]
    /// The extents of the nodes, level by level.
    let extents: [GridExtent]
    /// Where those of each level begin.
    let firstNodes: [Int]

    private let madeSlotPlaces = Mutex<SlotPlaces?>(nil)

    init(_ tree: TierTree) {
        places = (0..<tree.count).map { number in
            let leaf = Leaf(base: tree.leaf(number / TierLayout.fanout))
            let lane = number % TierLayout.fanout
            return WorldGrid(latitude: leaf.latitude(lane), longitude: leaf.longitude(lane))
        }
        var level = Self.groups(of: places).map { group in
            group.dropFirst().reduce(into: GridExtent(group.first!)) { $0.add(GridExtent($1)) }
        }
        var (extents, firstNodes) = (level, [0])
        while firstNodes.count < tree.levels {
            level = Self.groups(of: level).map { group in
                group.dropFirst().reduce(into: group.first!) { $0.add($1) }
            }
            firstNodes.append(extents.count)
            extents += level
        }
        (self.extents, self.firstNodes) = (extents, firstNodes)
        Self.bytes.add(memoryBytes, ordering: .relaxed)
    }

    deinit {
        let more = madeSlotPlaces.withLock { $0?.memoryBytes ?? 0 }
        Self.bytes.subtract(memoryBytes + more, ordering: .relaxed)
    }

    /// The places in the order of the slots; made when they are first asked for.
    ///
    /// - Parameter tree: that of this grid.
    func slotPlaces(of tree: TierTree) -> SlotPlaces {
        madeSlotPlaces.withLock { known in
            if let known { return known }
            let made = SlotPlaces(tree, places)
            Self.bytes.add(made.memoryBytes, ordering: .relaxed)
            known = made
            return made
        }
    }

    private static func groups<Element>(of all: [Element]) -> [ArraySlice<Element>] {
        stride(from: 0, to: all.count, by: TierLayout.fanout).map {
            all[$0..<min($0 + TierLayout.fanout, all.count)]
        }
    }

    private var memoryBytes: Int {
        places.count * MemoryLayout<WorldGrid>.stride
            + extents.count * MemoryLayout<GridExtent>.stride
    }

    private static let bytes = Atomic(0)

    /// The memory of all that exist.
    static var allBytes: Int { bytes.load(ordering: .relaxed) }
}

/// The extent of some places on the world's grid, and their sums.
struct GridExtent: Sendable, BitwiseCopyable {
    private(set) var first: WorldGrid
    private(set) var last: WorldGrid
    private(set) var sumX: UInt64
    private(set) var sumY: UInt64

    init(_ place: WorldGrid) {
        (first, last) = (place, place)
        (sumX, sumY) = (UInt64(place.x), UInt64(place.y))
    }

    mutating func add(_ other: GridExtent) {
        first = WorldGrid(x: min(first.x, other.first.x), y: min(first.y, other.first.y))
        last = WorldGrid(x: max(last.x, other.last.x), y: max(last.y, other.last.y))
        sumX += other.sumX
        sumY += other.sumY
    }

    /// Whether some cell of the window may have some of the places.
    func meets(_ window: GridWindow) -> Bool {
        let (low, high) = (first.cell(level: window.level), last.cell(level: window.level))
        return window.meets(rows: low.row...high.row, columns: low.column...high.column)
    }

    /// The cell of the window that has all of the places, if there is one.
    func cell(in window: GridWindow) -> GridCell? {
        let cell = first.cell(level: window.level)
        return last.cell(level: window.level) == cell && window.contains(cell) ? cell : nil
    }
}
