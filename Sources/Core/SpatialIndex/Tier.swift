import Geodesy
import PersistentStructures
import Synchronization

/// An immutable packed Hilbert R-tree over some of an index's entries.
///
/// Copies of an index share its tiers. Entries die without being written (see `Entry`); the index
/// counts dead entries beside the tier.
///
/// - Complexity: O(n) to build (radix sort). An entry takes 36 bytes, and the nodes above it 2.7
///   bytes.
/// - Reference: Kamel and Faloutsos, "On Packing R-trees", CIKM 1993 (the Hilbert order).
///
/// `@unchecked Sendable`: the memory behind `tree` is written only before `init` returns, and freed
/// with the tier.
final class Tier: @unchecked Sendable {
    let tree: TierTree

    /// Whether some of its slots have several points.
    let hasSeveral: Bool

    /// A tier with an entry for each of some points.
    @inline(__always)
    init<Point: BitwiseCopyable>(
        _ points: UnsafeBufferPointer<Point>,
        position: (Point) -> (latitude: Double, longitude: Double), entry: (Point) -> Entry
    ) {
        precondition(!points.isEmpty, "a tier without entries")
        tree = TierTree(count: points.count)
        hasSeveral = TierBuilder(tree: tree).fill(with: points, position, entry)
    }

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
        let stamps = packLeaves(points, position, entry)
        boundLeaves()
        for level in 1..<max(tree.levels, 1) { boundNodes(level: level) }
        return Stamp.isOneOfSeveral(stamps)
    }

    // A key consists of the position on the curve in the high bits and the number of the point in
    // the low bits. The position has as many bits as the number leaves. The result has every bit that
    // some stamp has.
    @inline(__always)
    private func packLeaves<Point: BitwiseCopyable>(
        _ points: UnsafeBufferPointer<Point>,
        _ position: (Point) -> (latitude: Double, longitude: Double), _ entry: (Point) -> Entry
    ) -> UInt32 {
        let count = points.count
        let numberBits = max(20, Int.bitWidth - (count - 1).leadingZeroBitCount)
        let axisBits = (64 - numberBits) / 2
        let cells = Double(UInt32(1) << UInt32(axisBits))
        let last = (UInt32(1) << UInt32(axisBits)) - 1
        let keys = UnsafeMutableBufferPointer<UInt64>.allocate(capacity: count)
        defer { keys.deallocate() }
        let shift = UInt64(64 - 2 * axisBits)
        for number in 0..<count {
            let (latitude, longitude) = position(points[number])
            let x = (longitude + 180) * (cells / 360)
            let y = (latitude + 90) * (cells / 180)
            let key = HilbertCurve.index(
                x: min(UInt32(x), last), y: min(UInt32(y), last), bits: axisBits)
            keys.initializeElement(at: number, to: key << shift | UInt64(number))
        }
        keys.radixSort(fromBit: shift, digitBits: 11) { $0 }
        let mask = (UInt64(1) << shift) - 1
        var stamps: UInt32 = 0
        // The points of a leaf are scattered in memory. They are fetched before the first is
        // processed, so that the memory accesses overlap.
        withUnsafeTemporaryAllocation(of: Point.self, capacity: TierLayout.fanout) { fetched in
            for number in 0..<tree.leafCount {
                let leaf = Leaf(base: tree.leaf(number))
                let used = tree.entryCount(ofLeaf: number)
                for lane in 0..<used {
                    let key = keys[number * TierLayout.fanout + lane]
                    fetched.initializeElement(at: lane, to: points[Int(key & mask)])
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

    // Lanes after the last entry are never reported. They repeat the last entry, so that wide loads
    // read initialised numbers.
    private func padLastLeaf() {
        let leaf = Leaf(base: tree.leaf(tree.leafCount - 1))
        let used = tree.entryCount(ofLeaf: tree.leafCount - 1)
        let filler = leaf.entry(used - 1)
        for lane in used..<16 { leaf.store(filler, lane: lane) }
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
