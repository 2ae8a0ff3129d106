import Geodesy
import PersistentStructures

/// Many points at one place, which a nearest-first walk takes as runs.
extension NearestWalk {
    /// Opens all below a node as a run, if it is at one place; returns whether it is.
    @inline(__always)
    mutating func openRun(node: Int, level: Int, of tree: TierTree, _ tier: UInt16) -> Bool {
        guard tree.isSpeck(node: node, level: level) else { return false }
        let entries = tree.entries(below: node, level: level)
        guard let place = tree.place(ofAll: entries) else { return false }
        openRun(of: entries, at: place, tier: tier)
        return true
    }

    private mutating func openRun(of entries: Range<Int>, at place: Coordinate, tier: UInt16) {
        var (distance, farther) = (Distance.zero, Float(0))
        if let last = runs.last, last.place.isIdentical(to: place) {
            (distance, farther) = (last.distance, last.beyond)
        } else {
            distance = measure.distance(to: place)
            farther = bounds.key(beyond: distance.meters)
        }
        guard distance.isWithin(radiusMeters: radiusMeters) else { return }
        var first = entries.lowerBound
        if let after {
            guard distance >= after.distance else { return }
            if distance == after.distance {
                let tree = index.tiers[Int(tier)].tier.tree
                first = entries.firstPosition { tree.slot(ofEntry: $0) <= after.slot }
            }
        }
        let rest = first..<entries.upperBound
        let run = PlaceRun(
            place: place, distance: distance, beyond: farther, tier: tier, entries: rest)
        runs.append(run)
        insertHead(of: run, number: UInt32(runs.count - 1))
    }

    /// Takes the first slot of a run that is next, or examines its next leaf.
    ///
    /// - Returns: whether a slot was taken.
    mutating func goOn(with head: Found, _ selection: Selection?) -> Bool {
        var run = runs[Int(head.run)]
        let isSlot = run.wanted != 0
        if isSlot { run.wanted &= run.wanted - 1 } else { examine(&run, selection) }
        runs[Int(head.run)] = run
        insertHead(of: run, number: head.run)
        return isSlot
    }

    /// Lets a run wait for its next slot or, if that is unknown, for the first of its next leaf.
    private mutating func insertHead(of run: PlaceRun, number: UInt32) {
        guard let slot = run.head(in: index.tiers[Int(run.tier)].tier.tree) else { return }
        found.insert(
            Found(
                micrometers: run.distance.micrometers, slot: slot, beyond: run.beyond,
                run: number))
    }

    private mutating func examine(_ run: inout PlaceRun, _ selection: Selection?) {
        visitedNodes += 1
        let record = index.tiers[Int(run.tier)]
        let (number, lanes) = run.enterLeaf()
        let leaf = Leaf(base: record.tier.tree.leaf(number))
        run.wanted = lanes.filter { index.isLive(leaf, $0, of: record) }
        if let selection { run.wanted = Self.select(run.wanted, selection) { leaf.slot($0) } }
        if record.tier.hasSeveral {
            // These may be nearer at another place, or known.
            let several = run.wanted.filter { Stamp.isOneOfSeveral(leaf.stamp($0)) }
            run.wanted &= ~several
            several.forEachLane { lane in
                measure(
                    Open(
                        bound: 0, number: UInt32(number << 4 | lane), level: Open.point,
                        tier: run.tier))
            }
        }
        visitedPoints += run.wanted.nonzeroBitCount
    }
}
