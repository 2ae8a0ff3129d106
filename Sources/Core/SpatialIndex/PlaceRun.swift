import Geodesy
import PersistentStructures

/// Neighbouring entries of a tree that are all at one place, so that they are in the order of their
/// slots. A walk examines them leaf by leaf, as far as it goes.
struct PlaceRun: Sendable {
    let place: Coordinate
    let distance: Distance
    /// Every key above this one belongs to a distance above that of the place.
    let beyond: Float
    let tier: UInt16
    /// The entries that have not been examined.
    private var entries: Range<Int>
    /// The leaf that was examined last.
    private var leaf = 0
    /// The lanes of that leaf whose slots are wanted and have not been taken.
    var wanted: UInt16 = 0

    init(
        place: Coordinate, distance: Distance, beyond: Float, tier: UInt16, entries: Range<Int>
    ) {
        (self.place, self.distance, self.beyond) = (place, distance, beyond)
        (self.tier, self.entries) = (tier, entries)
    }

    /// The next slot that is wanted; if it is not known, a slot that is not behind it; nil at the
    /// end of the run.
    func head(in tree: TierTree) -> Slot? {
        if wanted != 0 { return Leaf(base: tree.leaf(leaf)).slot(wanted.trailingZeroBitCount) }
        return entries.isEmpty ? nil : tree.slot(ofEntry: entries.lowerBound)
    }

    /// Begins to examine the next leaf, which there has to be.
    ///
    /// - Returns: its number, and the lanes that belong to the run.
    mutating func enterLeaf() -> (number: Int, lanes: UInt16) {
        leaf = entries.lowerBound / TierLayout.fanout
        let lanes = entries.clamped(
            to: leaf * TierLayout.fanout..<(leaf + 1) * TierLayout.fanout)
        entries = lanes.upperBound..<entries.upperBound
        let first = lanes.lowerBound % TierLayout.fanout
        return (leaf, UInt16(truncatingIfNeeded: (1 << lanes.count - 1) << first))
    }
}

extension TierTree {
    /// Whether a node is so small that all below it may be at one place.
    ///
    /// Inequality: the box of a place is at most 2^-22 wide: a component, rounded to `Float`, is
    /// widened by a unit of the last place to either side, which is at most 2^-23.
    @inline(__always)
    func isSpeck(node: Int, level: Int) -> Bool {
        guard level < levels else { return false }
        let box = group(node / TierLayout.fanout, level: level) + node % TierLayout.fanout * 4
        typealias Group = TierLayout.Group
        func isNarrow(_ low: Int, _ high: Int) -> Bool {
            box.load(fromByteOffset: high, as: Float.self)
                - box.load(fromByteOffset: low, as: Float.self) <= 0x1p-22
        }
        return isNarrow(Group.lowX, Group.highX) && isNarrow(Group.lowY, Group.highY)
            && isNarrow(Group.lowZ, Group.highZ)
    }

    /// The place of some entries, of which there is at least one; nil if they are at several.
    ///
    /// - Complexity: O(1). Entries at one place are neighbours (see `CurvePlace`), so it is that of
    ///   all if it is that of the first and the last.
    func place(ofAll entries: Range<Int>) -> Coordinate? {
        let place = place(ofEntry: entries.lowerBound)
        return place.isIdentical(to: self.place(ofEntry: entries.upperBound - 1)) ? place : nil
    }

    func slot(ofEntry number: Int) -> Slot {
        Leaf(base: leaf(number / TierLayout.fanout)).slot(number % TierLayout.fanout)
    }

    private func place(ofEntry number: Int) -> Coordinate {
        Leaf(base: leaf(number / TierLayout.fanout)).coordinate(number % TierLayout.fanout)
    }
}

extension UInt16 {
    /// Calls `body` with the number of each set bit.
    @inline(__always)
    func forEachLane(_ body: (Int) -> Void) {
        var rest = self
        while rest != 0 {
            body(rest.trailingZeroBitCount)
            rest &= rest - 1
        }
    }

    /// The set bits whose numbers satisfy a condition.
    @inline(__always)
    func filter(_ isKept: (Int) -> Bool) -> UInt16 {
        var kept: UInt16 = 0
        forEachLane { if isKept($0) { kept |= 1 << UInt16($0) } }
        return kept
    }
}
