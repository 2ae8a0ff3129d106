import Geodesy
import PersistentStructures

/// One box as the index stores it: a piece of the place of a slot.
///
/// An entry is live while its stamp is the current stamp of its slot.
struct BoxEntry: BitwiseCopyable, Sendable {
    let slot: Slot
    var stamp: UInt32
    let box: DegreeBox
    /// Whether all of the box that was given lies in the place.
    let isWhole: Bool
}

/// A packed Hilbert R-tree of boxes that never changes, one tier of a `BoxIndex`.
///
/// Entries lie in leaves of 16 and boxes of nodes in groups of 16, by columns: south, west, north,
/// east, and in leaves slot and stamp. They are sorted along the curve by their middles.
///
/// - Complexity: O(n) to build. An entry takes 24 bytes, and the nodes above it 1.1 bytes.
///
/// `@unchecked Sendable`: the memory is written only before `init` returns, and freed with the tier.
final class BoxTier: PackedTier, @unchecked Sendable {
    let shape: TreeShape
    private let leaves, groups: UnsafeMutableRawPointer
    /// For each leaf a bit for each entry of which all lies in its place.
    private let wholes: [UInt16]

    /// Bytes of a column, and of a leaf and a group.
    private enum Layout {
        static let column = 64
        static let slot = 4 * column
        static let stamp = 5 * column
        static let leaf = 6 * column
        static let group = 4 * column
    }

    /// - Parameter entries: in any order; one at least.
    init(_ entries: [BoxEntry]) {
        precondition(!entries.isEmpty, "a tier without entries")
        shape = TreeShape(count: entries.count)
        leaves = .allocate(byteCount: shape.leafCount * Layout.leaf, alignment: Layout.column)
        groups = .allocate(byteCount: shape.groupCount * Layout.group, alignment: Layout.column)
        let curve = CurveKeys(count: entries.count)
        var keys = entries.enumerated().map { number, entry in
            curve.key(number, latitude: entry.box.latitude, longitude: entry.box.longitude)
        }
        keys.withUnsafeMutableBufferPointer {
            $0.radixSort(fromBit: curve.shift, digitBits: 11) { $0 }
        }
        var wholes = [UInt16](repeating: 0, count: shape.leafCount)
        for position in 0..<shape.leafCount * TierLayout.fanout {
            let (number, lane) = (position / TierLayout.fanout, position % TierLayout.fanout)
            let leaf = leaves + number * Layout.leaf
            guard position < entries.count else {
                Self.store(.empty, in: leaf, lane)
                Self.store(slot: 0, stamp: 0, in: leaf, lane)
                continue
            }
            let entry = entries[curve.number(of: keys[position])]
            Self.store(entry.box, in: leaf, lane)
            Self.store(slot: entry.slot, stamp: entry.stamp, in: leaf, lane)
            if entry.isWhole { wholes[number] |= 1 << UInt16(lane) }
        }
        self.wholes = wholes
        for level in 0..<shape.levels { bound(level) }
    }

    convenience init(merging others: [TierRecord<BoxTier>], stamps: PersistentArray<UInt32>) {
        var entries: [BoxEntry] = []
        entries.reserveCapacity(others.liveCount())
        for other in others { other.appendLiveEntries(to: &entries, stamps: stamps) }
        self.init(entries)
    }

    deinit {
        leaves.deallocate()
        groups.deallocate()
    }

    var count: Int { shape.count }

    var memoryBytes: Int {
        shape.leafCount * (Layout.leaf + 2) + shape.groupCount * Layout.group
    }

    /// Writes the boxes of a level's nodes, and empty ones to the end of its last group.
    private func bound(_ level: Int) {
        let nodes = shape.nodeCount(level: level)
        for node in 0..<(nodes + TierLayout.fanout - 1) / TierLayout.fanout * TierLayout.fanout {
            var box = DegreeBox.empty
            if node < nodes {
                let below = level == 0 ? leaf(node) : group(node, level: level - 1)
                for lane in 0..<TierLayout.fanout { box.formUnion(Self.box(in: below, lane)) }
            }
            Self.store(
                box, in: group(node / TierLayout.fanout, level: level), node % TierLayout.fanout)
        }
    }

    // MARK: Columns

    func leaf(_ number: Int) -> UnsafeMutableRawPointer { leaves + number * Layout.leaf }

    func group(_ number: Int, level: Int) -> UnsafeMutableRawPointer {
        groups + shape.position(ofGroup: number, level: level) * Layout.group
    }

    /// A box of a leaf or a group.
    static func box(in columns: UnsafeMutableRawPointer, _ lane: Int) -> DegreeBox {
        func column(_ number: Int) -> Float {
            columns.load(fromByteOffset: number * Layout.column + lane * 4, as: Float.self)
        }
        return DegreeBox(south: column(0), west: column(1), north: column(2), east: column(3))
    }

    private static func store(_ box: DegreeBox, in columns: UnsafeMutableRawPointer, _ lane: Int) {
        for (number, edge) in [box.south, box.west, box.north, box.east].enumerated() {
            columns.storeBytes(
                of: edge, toByteOffset: number * Layout.column + lane * 4, as: Float.self)
        }
    }

    private static func store(
        slot: Slot, stamp: UInt32, in leaf: UnsafeMutableRawPointer, _ lane: Int
    ) {
        leaf.storeBytes(of: slot, toByteOffset: Layout.slot + lane * 4, as: Slot.self)
        leaf.storeBytes(of: stamp, toByteOffset: Layout.stamp + lane * 4, as: UInt32.self)
    }

    func entry(_ number: Int) -> BoxEntry {
        let (leaf, lane) = (leaf(number / TierLayout.fanout), number % TierLayout.fanout)
        return BoxEntry(
            slot: leaf.load(fromByteOffset: Layout.slot + lane * 4, as: Slot.self),
            stamp: leaf.load(fromByteOffset: Layout.stamp + lane * 4, as: UInt32.self),
            box: Self.box(in: leaf, lane),
            isWhole: wholes[number / TierLayout.fanout] >> UInt16(lane) & 1 == 1)
    }

    // MARK: Asking

    /// Calls `body` with each entry, dead or alive, whose box meets a window, until it returns false.
    ///
    /// - Returns: whether it has been called for all of them.
    /// - Complexity: O(log n + entries found) where boxes do not overlap much.
    @inline(__always)
    func search(_ window: DegreeWindow, _ body: (BoxEntry) -> Bool) -> Bool {
        search(window, group: 0, level: shape.levels - 1, body)
    }

    private func search(
        _ window: DegreeWindow, group number: Int, level: Int, _ body: (BoxEntry) -> Bool
    ) -> Bool {
        var rest = window.touches(group(number, level: level))
        while rest != 0 {
            let child = number * TierLayout.fanout + rest.trailingZeroBitCount
            rest &= rest - 1
            guard level == 0 else {
                guard search(window, group: child, level: level - 1, body) else { return false }
                continue
            }
            var lanes = window.touches(leaf(child))
            while lanes != 0 {
                let lane = lanes.trailingZeroBitCount
                lanes &= lanes - 1
                guard body(entry(child * TierLayout.fanout + lane)) else { return false }
            }
        }
        return true
    }

    /// About how many entries meet a window; it opens at most `budget` groups.
    func estimate(_ window: DegreeWindow, budget: inout Int) -> Double {
        estimate(window, group: 0, level: shape.levels - 1, budget: &budget)
    }

    private func estimate(
        _ window: DegreeWindow, group number: Int, level: Int, budget: inout Int
    ) -> Double {
        budget -= 1
        let columns = group(number, level: level)
        var rest = window.touches(columns)
        var total = 0.0
        while rest != 0 {
            let lane = rest.trailingZeroBitCount
            rest &= rest - 1
            let child = number * TierLayout.fanout + lane
            if level > 0, budget > 0 {
                total += estimate(window, group: child, level: level - 1, budget: &budget)
            } else if level == 0, budget > 0 {
                budget -= 1
                total += Double(window.touches(leaf(child)).nonzeroBitCount)
            } else {
                total +=
                    Double(shape.entries(below: child, level: level).count)
                    * window.share(of: Self.box(in: columns, lane))
            }
        }
        return total
    }
}

extension TierRecord where Tree == BoxTier {
    /// Appends the entries whose stamps are current.
    func appendLiveEntries(to entries: inout [BoxEntry], stamps: PersistentArray<UInt32>) {
        for number in 0..<tier.count {
            let entry = tier.entry(number)
            if dead == 0 || stamps[Int(entry.slot)] == entry.stamp { entries.append(entry) }
        }
    }
}
