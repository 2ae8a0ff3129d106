import CGlibc
import PersistentStructures

/// A node whose children remain to be examined, or a leaf (level -1).
private struct Pending: BitwiseCopyable {
    let number: UInt32
    let level: Int8
    let isInside: Bool
}

extension TierTree {
    // The search is depth-first: each level leaves at most fifteen siblings of the opened node.
    private static var stackCapacity: Int { TierLayout.maximumLevels * 15 + 1 }

    /// Calls `report` with each leaf that holds points of the region, and with the lanes of these
    /// points: those certainly inside, and those touched that need the exact test.
    ///
    /// - Parameters:
    ///   - positions: whether `report` reads the degrees of points that are inside.
    ///   - goesOn: asked now and then; false ends the search.
    /// - Returns: false if `report` or `goesOn` returned false, which ends the search.
    /// - Complexity: O(log n + nodes on the region's edge + leaves inside).
    @inline(__always)
    func search<R: Region>(
        _ region: R, positions: Bool, _ goesOn: () -> Bool = { true },
        _ report: (_ leaf: Leaf, _ lanes: Lanes) -> Bool
    ) -> Bool {
        withUnsafeTemporaryAllocation(of: Pending.self, capacity: Self.stackCapacity) { stack in
            stack.initializeElement(
                at: 0, to: Pending(number: 0, level: Int8(levels - 1), isInside: false))
            var depth = 1
            var pace = Pace()
            while depth > 0 {
                guard !pace.isOver({ !goesOn() }) else { return false }
                depth -= 1
                let pending = stack[depth]
                let number = Int(pending.number)
                guard pending.level < 0 else {
                    open(pending, region, positions, stack, &depth)
                    continue
                }
                let base = leaf(number)
                let lanes =
                    pending.isInside
                    ? Lanes(touched: 0xffff, inside: 0xffff)
                    : region.points(base, place(number, level: -1))
                let used = lanes.first(entryCount(ofLeaf: number))
                if used.touched != 0 {
                    guard report(Leaf(base: base), used) else { return false }
                }
            }
            return true
        }
    }

    @inline(__always)
    private func open<R: Region>(
        _ pending: Pending, _ region: R, _ positions: Bool,
        _ stack: UnsafeMutableBufferPointer<Pending>, _ depth: inout Int
    ) {
        let level = Int(pending.level)
        let number = Int(pending.number)
        let lanes =
            pending.isInside
            ? Lanes(touched: 0xffff, inside: 0xffff)
            : region.nodes(group(number, level: level), place(number, level: level))
        let used = lanes.first(childCount(ofGroup: number, level: level))
        var rest = used.touched
        while rest != 0 {
            let lane = rest.trailingZeroBitCount
            rest &= rest - 1
            let isInside = used.inside >> UInt16(lane) & 1 == 1
            if level == 0 { fetch(leaf: number << 4 | lane, isInside, positions) }
            stack.initializeElement(
                at: depth,
                to: Pending(
                    number: UInt32(number << 4 | lane), level: pending.level - 1,
                    isInside: isInside))
            depth += 1
        }
    }

    // Leaves are scattered in memory. They are prefetched together before the first is examined, so
    // that the memory accesses overlap.
    @inline(__always)
    private func fetch(leaf number: Int, _ isInside: Bool, _ positions: Bool) {
        typealias Columns = TierLayout.Leaf
        if !isInside { fetchChords(ofLeaf: number) }
        if !isInside || positions { fetchPositions(ofLeaf: number) }
        gb_prefetch(leaf(number) + Columns.slot)
    }

    /// Prefetches the data for the chords of a leaf's points.
    @inline(__always)
    func fetchChords(ofLeaf number: Int) {
        for column in stride(from: TierLayout.Leaf.x, to: TierLayout.Leaf.latitude, by: 64) {
            gb_prefetch(leaf(number) + column)
        }
    }

    /// Prefetches the degrees of a leaf's points.
    @inline(__always)
    func fetchPositions(ofLeaf number: Int) {
        for column in stride(from: TierLayout.Leaf.latitude, to: TierLayout.Leaf.slot, by: 64) {
            gb_prefetch(leaf(number) + column)
        }
    }

    /// The number of entries in the region, dead or alive; nil if `goesOn`, which is asked now and
    /// then, returned false. It is meant for a tree in which all entries are live.
    ///
    /// - Complexity: O(log n + nodes on the region's edge). Nodes inside the region are not opened.
    func count<R: Region>(_ region: R, _ goesOn: () -> Bool) -> Int? {
        var pace = Pace()
        return count(region, group: 0, level: levels - 1) { pace.isOver { !goesOn() } }
    }

    private func count<R: Region>(
        _ region: R, group number: Int, level: Int, _ isOver: () -> Bool
    ) -> Int? {
        let lanes = region.nodes(group(number, level: level), place(number, level: level))
            .first(childCount(ofGroup: number, level: level))
        var total = 0
        var rest = lanes.touched
        while rest != 0 {
            let lane = rest.trailingZeroBitCount
            rest &= rest - 1
            let child = number << 4 | lane
            guard !isOver() else { return nil }
            if lanes.inside >> UInt16(lane) & 1 == 1 {
                total += entries(below: child, level: level).count
            } else if level > 0 {
                guard let below = count(region, group: child, level: level - 1, isOver)
                else { return nil }
                total += below
            } else {
                total += count(region, leaf: child)
            }
        }
        return total
    }

    private func count<R: Region>(_ region: R, leaf number: Int) -> Int {
        let points = Leaf(base: leaf(number))
        let lanes = region.points(points.base, place(number, level: -1)).first(
            entryCount(ofLeaf: number))
        var total = lanes.inside.nonzeroBitCount
        var rest = lanes.touched & ~lanes.inside
        while rest != 0 {
            let lane = rest.trailingZeroBitCount
            rest &= rest - 1
            if region.contains(points.coordinate(lane), lane: lane) { total += 1 }
        }
        return total
    }

    /// The approximate number of entries in the region. It opens at most `budget` groups.
    func estimate<R: MeasurableRegion>(_ region: R, budget: inout Int) -> Double {
        estimate(region, group: 0, level: levels - 1, budget: &budget)
    }

    // Descends from the group level by level. Once the budget is spent, a child that is partly in
    // the region counts by its share.
    private func estimate<R: MeasurableRegion>(
        _ region: R, group number: Int, level: Int, budget: inout Int
    ) -> Double {
        budget -= 1
        let boxes = group(number, level: level)
        let place = place(number, level: level)
        let lanes = region.nodes(boxes, place).first(childCount(ofGroup: number, level: level))
        lazy var shares = region.shares(boxes, place)
        var total = 0.0
        var rest = lanes.touched
        while rest != 0 {
            let lane = rest.trailingZeroBitCount
            rest &= rest - 1
            let child = number << 4 | lane
            let size = Double(entries(below: child, level: level).count)
            if lanes.inside >> UInt16(lane) & 1 == 1 {
                total += size
            } else if level > 0 && budget > 0 {
                total += estimate(region, group: child, level: level - 1, budget: &budget)
            } else {
                total += size * Double(shares[lane])
            }
        }
        return total
    }

    /// Where a group or a leaf is.
    @inline(__always)
    private func place(_ number: Int, level: Int) -> TreePlace {
        TreePlace(level: level, lane: level == levels - 1 ? nil : number & 15)
    }
}
