import Geodesy
import PersistentStructures

/// The memory layout of a packed tree.
///
/// Entries are packed in leaves of 16, and the boxes of sibling nodes in groups of 16. The columns
/// of a leaf or group are stored one after the other, so a query reads only the columns that it
/// tests, each with one wide load.
enum TierLayout {
    /// The number of entries in a leaf and of children of a node.
    static let fanout = 16

    /// The maximum number of node levels: 16^8 entries are more than there are slots.
    static let maximumLevels = 8

    /// Byte offsets in a leaf.
    enum Leaf {
        static let x = 0
        static let y = 64
        static let z = 128
        static let latitude = 192
        static let longitude = 320
        static let slot = 448
        static let stamp = 512
        static let stride = 576
    }

    /// Byte offsets in a group of node boxes.
    enum Group {
        static let lowX = 0
        static let lowY = 64
        static let lowZ = 128
        static let highX = 192
        static let highY = 256
        static let highZ = 320
        static let south = 384
        static let west = 448
        static let north = 512
        static let east = 576
        static let stride = 640
    }
}

/// The shape of a packed tree, in which all but the last nodes of a level are full.
///
/// Level 0 has a node for each leaf of 16 entries. Level k + 1 has a node for each group of 16
/// nodes of level k, and the top level is a single group. The children of node i are group i one
/// level below, or leaf i. The tree therefore needs no pointers, and node i of level k covers the
/// entries from i * 16^(k+1) on.
struct TreeShape: BitwiseCopyable, Sendable {
    let count: Int
    let levels: Int
    private let firstGroups: InlineArray<8, Int>
    let groupCount: Int

    init(count: Int) {
        var levels = 0
        var nodes = count
        var total = 0
        var firstGroups = InlineArray<8, Int>(repeating: 0)
        repeat {
            nodes = (nodes + 15) / 16
            firstGroups[levels] = total
            total += (nodes + 15) / 16
            levels += 1
        } while nodes > 16
        self.count = count
        self.levels = levels
        self.firstGroups = firstGroups
        self.groupCount = total
    }

    var leafCount: Int { (count + 15) / 16 }

    func nodeCount(level: Int) -> Int {
        let shift = 4 * (level + 1)
        return (count + (1 << shift) - 1) >> shift
    }

    /// The entries below a node.
    func entries(below node: Int, level: Int) -> Range<Int> {
        let shift = 4 * (level + 1)
        return (node << shift)..<min((node + 1) << shift, count)
    }

    func childCount(ofGroup group: Int, level: Int) -> Int {
        min(TierLayout.fanout, nodeCount(level: level) - group * TierLayout.fanout)
    }

    func entryCount(ofLeaf leaf: Int) -> Int {
        min(TierLayout.fanout, count - leaf * TierLayout.fanout)
    }

    /// The number of a level's group among all groups.
    func position(ofGroup group: Int, level: Int) -> Int { firstGroups[level] + group }
}

/// A packed Hilbert R-tree in memory that another object owns.
struct TierTree {
    let leaves: UnsafeMutableRawPointer
    let groups: UnsafeMutableRawPointer
    let shape: TreeShape

    init(count: Int) {
        shape = TreeShape(count: count)
        leaves = .allocate(
            byteCount: shape.leafCount * TierLayout.Leaf.stride, alignment: 64)
        groups = .allocate(
            byteCount: shape.groupCount * TierLayout.Group.stride, alignment: 64)
    }

    func deallocate() {
        leaves.deallocate()
        groups.deallocate()
    }

    var count: Int { shape.count }
    var levels: Int { shape.levels }
    var leafCount: Int { shape.leafCount }

    var memoryBytes: Int {
        leafCount * TierLayout.Leaf.stride + shape.groupCount * TierLayout.Group.stride
    }

    func nodeCount(level: Int) -> Int { shape.nodeCount(level: level) }

    /// The entries below a node.
    func entries(below node: Int, level: Int) -> Range<Int> {
        shape.entries(below: node, level: level)
    }

    func childCount(ofGroup group: Int, level: Int) -> Int {
        shape.childCount(ofGroup: group, level: level)
    }

    func entryCount(ofLeaf leaf: Int) -> Int { shape.entryCount(ofLeaf: leaf) }

    func group(_ group: Int, level: Int) -> UnsafeMutableRawPointer {
        groups + shape.position(ofGroup: group, level: level) * TierLayout.Group.stride
    }

    func leaf(_ leaf: Int) -> UnsafeMutableRawPointer {
        leaves + leaf * TierLayout.Leaf.stride
    }
}

/// The columns of one leaf.
struct Leaf {
    let base: UnsafeMutableRawPointer

    func slot(_ lane: Int) -> Slot {
        base.load(fromByteOffset: TierLayout.Leaf.slot + lane * 4, as: Slot.self)
    }

    var slots: UnsafeBufferPointer<Slot> {
        let first = (base + TierLayout.Leaf.slot).assumingMemoryBound(to: Slot.self)
        return UnsafeBufferPointer(start: first, count: TierLayout.fanout)
    }

    func stamp(_ lane: Int) -> UInt32 {
        base.load(fromByteOffset: TierLayout.Leaf.stamp + lane * 4, as: UInt32.self)
    }

    func latitude(_ lane: Int) -> Double {
        base.load(fromByteOffset: TierLayout.Leaf.latitude + lane * 8, as: Double.self)
    }

    func longitude(_ lane: Int) -> Double {
        base.load(fromByteOffset: TierLayout.Leaf.longitude + lane * 8, as: Double.self)
    }

    func coordinate(_ lane: Int) -> Coordinate {
        Coordinate(latitude: latitude(lane), longitude: longitude(lane))
    }

    /// The latitudes of eight lanes.
    @inline(__always)
    func latitudes(from lane: Int) -> SIMD8<Double> {
        base.doubles(TierLayout.Leaf.latitude + lane * 8)
    }

    /// The longitudes of eight lanes.
    @inline(__always)
    func longitudes(from lane: Int) -> SIMD8<Double> {
        base.doubles(TierLayout.Leaf.longitude + lane * 8)
    }

    func entry(_ lane: Int) -> Entry {
        Entry(
            slot: slot(lane), stamp: stamp(lane), latitude: latitude(lane),
            longitude: longitude(lane), vector: vector(lane))
    }

    func vector(_ lane: Int) -> FloatVector {
        FloatVector(
            x: base.load(fromByteOffset: TierLayout.Leaf.x + lane * 4, as: Float.self),
            y: base.load(fromByteOffset: TierLayout.Leaf.y + lane * 4, as: Float.self),
            z: base.load(fromByteOffset: TierLayout.Leaf.z + lane * 4, as: Float.self))
    }

    func store(_ entry: Entry, lane: Int) {
        base.storeBytes(
            of: entry.vector.x, toByteOffset: TierLayout.Leaf.x + lane * 4, as: Float.self)
        base.storeBytes(
            of: entry.vector.y, toByteOffset: TierLayout.Leaf.y + lane * 4, as: Float.self)
        base.storeBytes(
            of: entry.vector.z, toByteOffset: TierLayout.Leaf.z + lane * 4, as: Float.self)
        base.storeBytes(
            of: entry.latitude, toByteOffset: TierLayout.Leaf.latitude + lane * 8, as: Double.self)
        base.storeBytes(
            of: entry.longitude, toByteOffset: TierLayout.Leaf.longitude + lane * 8,
            as: Double.self)
        base.storeBytes(
            of: entry.slot, toByteOffset: TierLayout.Leaf.slot + lane * 4, as: Slot.self)
        base.storeBytes(
            of: entry.stamp, toByteOffset: TierLayout.Leaf.stamp + lane * 4, as: UInt32.self)
    }
}
