import PersistentStructures

/// The live entries of some trees, one after the other in the order of the curve.
///
///     var merge = TierMerge(of: records, stamps: stamps)
///     let first = merge.next()
///
/// Each tree has its entries in that order already. So nothing is sorted: the trees are read from
/// beginning to end, and the next entry is the first of their next ones.
///
/// - Complexity: an entry is O(trees), and its place on the curve.
struct TierMerge: ~Copyable {
    /// Keeps the trees.
    private let records: [TierRecord<Tier>]
    private let stamps: PersistentArray<UInt32>
    private let runs: UnsafeMutableBufferPointer<Run>
    /// The place on the curve of each run's next entry; `ended` for a run without one.
    private let places: UnsafeMutableBufferPointer<UInt64>

    private static let ended = UInt64.max

    /// - Parameter records: one at least.
    init(of records: [TierRecord<Tier>], stamps: PersistentArray<UInt32>) {
        (self.records, self.stamps) = (records, stamps)
        runs = .allocate(capacity: records.count)
        places = .allocate(capacity: records.count)
        for (number, record) in records.enumerated() {
            runs.initializeElement(at: number, to: Run(record))
            places.initializeElement(at: number, to: Self.ended)
            enterLeaf(of: number)
        }
    }

    deinit {
        runs.deinitialize()
        runs.deallocate()
        places.deallocate()
    }

    /// The next entry, of which there has to be one.
    mutating func next() -> Entry {
        var first = 0
        for run in 1..<max(runs.count, 1) where places[run] <= places[first] {
            if places[run] < places[first] || runs[run].precedesInCell(runs[first]) { first = run }
        }
        precondition(places[first] != Self.ended, "a tier has fewer live entries than it counts")
        let entry = run(first).pointee.next()
        if runs[first].live == 0 {
            enterLeaf(of: first)
        } else {
            places[first] = runs[first].places[runs[first].live.trailingZeroBitCount]
        }
        return entry
    }

    /// A run to be changed. Swift 6.3 cannot compile a change of a buffer's element in place under the
    /// thread sanitizer.
    private func run(_ number: Int) -> UnsafeMutablePointer<Run> { runs.baseAddress! + number }

    /// Goes on to the next leaf that has a live entry.
    private func enterLeaf(of run: Int) {
        while self.run(run).pointee.enterLeaf(stamps) {
            guard runs[run].live != 0 else { continue }
            self.run(run).pointee.place()
            places[run] = runs[run].places[runs[run].live.trailingZeroBitCount]
            return
        }
        places[run] = Self.ended
    }
}

/// A tree that is being read.
private struct Run {
    private let tree: TierTree
    private let isWhole: Bool
    private var nextLeaf = 0
    private(set) var leaf: Leaf
    /// The lanes of the leaf whose entries are live and have not been taken.
    private(set) var live: UInt16 = 0
    /// The places of the leaf's entries on the curve.
    private(set) var places = InlineArray<16, UInt64>(repeating: 0)

    init(_ record: TierRecord<Tier>) {
        tree = record.tier.tree
        isWhole = record.dead == 0
        leaf = Leaf(base: tree.leaf(0))
    }

    /// Enters the next leaf; returns false if there is none.
    mutating func enterLeaf(_ stamps: PersistentArray<UInt32>) -> Bool {
        guard nextLeaf < tree.leafCount else { return false }
        leaf = Leaf(base: tree.leaf(nextLeaf))
        let count = tree.entryCount(ofLeaf: nextLeaf)
        live = UInt16(truncatingIfNeeded: 1 << count - 1)
        nextLeaf += 1
        if isWhole { return true }
        // The stamps are scattered in memory. They are read together, so that the memory accesses
        // overlap.
        let (leaf, slots) = (leaf, UnsafeBufferPointer(rebasing: leaf.slots[..<count]))
        var (lane, live) = (0, UInt16(0))
        stamps.forEachAddress(at: slots) { stamp in
            if stamp.pointee == leaf.stamp(lane) { live |= 1 << UInt16(lane) }
            lane += 1
        }
        self.live = live
        return true
    }

    /// The leaf's next entry.
    mutating func next() -> Entry {
        let lane = live.trailingZeroBitCount
        live &= live - 1
        return leaf.entry(lane)
    }

    /// Computes the places of the leaf's entries.
    mutating func place() {
        for lane in 0..<TierLayout.fanout {
            places[lane] = CurveCells.finest.position(
                latitude: leaf.latitude(lane), longitude: leaf.longitude(lane))
        }
    }

    /// Whether the next entry comes before that of another tree which is in the same cell. A run
    /// without a next entry comes last.
    func precedesInCell(_ other: Run) -> Bool {
        guard live != 0, other.live != 0 else { return live != 0 }
        let (entry, otherEntry) = (nextPlace, other.nextPlace)
        return entry.place == otherEntry.place
            ? entry.slot < otherEntry.slot : entry.place < otherEntry.place
    }

    private var nextPlace: (place: CurvePlace, slot: Slot) {
        let lane = live.trailingZeroBitCount
        let place = CurvePlace(
            cell: places[lane], latitude: leaf.latitude(lane), longitude: leaf.longitude(lane))
        return (place, leaf.slot(lane))
    }
}
