import Geodesy
import PersistentStructures
import Synchronization

/// An immutable packed Hilbert R-tree over some of an index's entries.
///
/// Copies of an index share its tiers. Entries die without being written (see `Entry`); the index
/// counts dead entries beside the tier.
///
/// - Complexity: O(n) to build (radix sort, or a merge of trees). An entry takes 36 bytes, and the
///   nodes above it 2.7 bytes.
/// - Reference: Kamel and Faloutsos, "On Packing R-trees", CIKM 1993 (the Hilbert order).
///
/// `@unchecked Sendable`: the memory behind `tree` is written only before `init` returns, and freed
/// with the tier.
final class Tier: PackedTier, @unchecked Sendable {
    let tree: TierTree

    /// Whether some of its slots have several points.
    let hasSeveral: Bool

    /// A tier with an entry for each of some points, which are in the order of their slots.
    @inline(__always)
    init<Point: BitwiseCopyable>(
        _ points: UnsafeBufferPointer<Point>,
        position: (Point) -> (latitude: Double, longitude: Double), entry: (Point) -> Entry
    ) {
        precondition(!points.isEmpty, "a tier without entries")
        tree = TierTree(count: points.count)
        hasSeveral = TierBuilder(tree: tree).fill(with: points, position, entry)
    }

    /// A tier with the live entries of some others, of which there is at least one.
    ///
    /// - Parameter stamps: those of all slots.
    /// - Complexity: O(entries of the others), about 50 nanoseconds each, without scratch memory.
    init(merging others: [TierRecord<Tier>], stamps: PersistentArray<UInt32>) {
        tree = TierTree(count: others.reduce(0) { $0 + $1.live })
        var merge = TierMerge(of: others, stamps: stamps)
        hasSeveral = TierBuilder(tree: tree).fill(with: &merge)
    }

    /// A tier with these entries, which are in the order of their slots.
    convenience init(_ entries: UnsafeBufferPointer<Entry>) {
        self.init(entries, position: { ($0.latitude, $0.longitude) }, entry: { $0 })
    }

    deinit { tree.deallocate() }

    var count: Int { tree.count }

    /// Where its entries lie on the world's grid; made when it is first asked for.
    var grid: TierGrid {
        madeGrid.withLock { grid in
            if let grid { return grid }
            let made = TierGrid(tree)
            grid = made
            return made
        }
    }

    private let madeGrid = Mutex<TierGrid?>(nil)
}

/// Fills the memory of a new tree.
private struct TierBuilder {
    let tree: TierTree

    /// - Returns: whether some of the slots have several points.
    @inline(__always)
    func fill<Point: BitwiseCopyable>(
        with points: UnsafeBufferPointer<Point>,
        _ position: (Point) -> (latitude: Double, longitude: Double), _ entry: (Point) -> Entry
    ) -> Bool {
        let stamps = packLeaves(points, CurveKeys(count: points.count), position, entry)
        boundAll()
        return Stamp.isOneOfSeveral(stamps)
    }

    /// - Returns: whether some of the slots have several points.
    func fill(with merge: inout TierMerge) -> Bool {
        var stamps: UInt32 = 0
        for number in 0..<tree.leafCount {
            let leaf = Leaf(base: tree.leaf(number))
            for lane in 0..<tree.entryCount(ofLeaf: number) {
                let entry = merge.next()
                stamps |= entry.stamp
                leaf.store(entry, lane: lane)
            }
        }
        padLastLeaf()
        boundAll()
        return Stamp.isOneOfSeveral(stamps)
    }

    // The result has every bit that some stamp has.
    @inline(__always)
    private func packLeaves<Point: BitwiseCopyable>(
        _ points: UnsafeBufferPointer<Point>, _ curve: CurveKeys,
        _ position: (Point) -> (latitude: Double, longitude: Double), _ entry: (Point) -> Entry
    ) -> UInt32 {
        let count = points.count
        let keys = UnsafeMutableBufferPointer<UInt64>.allocate(capacity: count)
        defer { keys.deallocate() }
        for number in 0..<count {
            let (latitude, longitude) = position(points[number])
            keys.initializeElement(
                at: number, to: curve.key(number, latitude: latitude, longitude: longitude))
        }
        keys.radixSort(fromBit: curve.shift, digitBits: 11) { $0 }
        sortWithinCells(keys, points, curve, position)
        var stamps: UInt32 = 0
        // The points of a leaf are scattered in memory. They are fetched before the first is
        // processed, so that the memory accesses overlap.
        withUnsafeTemporaryAllocation(of: Point.self, capacity: TierLayout.fanout) { fetched in
            for number in 0..<tree.leafCount {
                let leaf = Leaf(base: tree.leaf(number))
                let used = tree.entryCount(ofLeaf: number)
                for lane in 0..<used {
                    let key = keys[number * TierLayout.fanout + lane]
                    fetched.initializeElement(at: lane, to: points[curve.number(of: key)])
                }
                for lane in 0..<used {
                    let entry = entry(fetched[lane])
                    stamps |= entry.stamp
                    leaf.store(entry, lane: lane)
                }
            }
        }
        padLastLeaf()
        return stamps
    }

    /// Sorts what the radix sort has left in the order of the points' numbers: those in one cell.
    @inline(__always)
    private func sortWithinCells<Point: BitwiseCopyable>(
        _ keys: UnsafeMutableBufferPointer<UInt64>, _ points: UnsafeBufferPointer<Point>,
        _ curve: CurveKeys, _ position: (Point) -> (latitude: Double, longitude: Double)
    ) {
        func place(_ key: UInt64) -> CurvePlace {
            let (latitude, longitude) = position(points[curve.number(of: key)])
            return CurvePlace(latitude: latitude, longitude: longitude)
        }
        var first = 0
        while first < keys.count {
            let cell = keys[first] >> curve.shift
            var end = first + 1
            while end < keys.count, keys[end] >> curve.shift == cell { end += 1 }
            if end - first > 1 {
                keys[first..<end].sort {
                    let (a, b) = (place($0), place($1))
                    return a == b ? $0 < $1 : a < b
                }
            }
            first = end
        }
    }

    // Lanes after the last entry are never reported. They repeat the last entry, so that wide loads
    // read initialised numbers.
    private func padLastLeaf() {
        let leaf = Leaf(base: tree.leaf(tree.leafCount - 1))
        let used = tree.entryCount(ofLeaf: tree.leafCount - 1)
        let filler = leaf.entry(used - 1)
        for lane in used..<16 { leaf.store(filler, lane: lane) }
    }

    private func boundAll() {
        boundLeaves()
        for level in 1..<max(tree.levels, 1) { boundNodes(level: level) }
    }

    private func boundLeaves() {
        for number in 0..<tree.leafCount {
            let box = NodeBox(
                leaf: Leaf(base: tree.leaf(number)), count: tree.entryCount(ofLeaf: number))
            store(box, node: number, level: 0)
        }
    }

    private func boundNodes(level: Int) {
        for node in 0..<tree.nodeCount(level: level) {
            let group = tree.group(node, level: level - 1)
            var box = NodeBox.empty
            for lane in 0..<tree.childCount(ofGroup: node, level: level - 1) {
                box.formUnion(NodeBox(group: group, lane: lane))
            }
            store(box, node: node, level: level)
        }
    }

    // The last node of a level is repeated to fill its group, for the same reason as in the leaves.
    private func store(_ box: NodeBox, node: Int, level: Int) {
        let group = tree.group(node >> 4, level: level)
        box.store(group: group, lane: node & 15)
        guard node == tree.nodeCount(level: level) - 1 else { return }
        for lane in (node & 15)..<16 { box.store(group: group, lane: lane) }
    }
}
