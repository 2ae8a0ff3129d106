import Geodesy
import PersistentStructures
import TestSupport
import Testing

@testable import SpatialIndex

/// Faults of an index, each made on purpose: `violations()` is what operators believe.
@Suite struct ViolationTests {
    /// Tiers of 24 and of 8 entries, and a delta of four slots with a point and one with two.
    private static func sound() -> PointIndex {
        var index = PointIndex(deltaCapacity: 8)
        for slot in 0..<36 as Range<Slot> { index.set(place(slot), for: slot) }
        index.set([place(40), place(41)], for: 40)
        return index
    }

    private static func place(_ slot: Slot) -> Coordinate {
        Coordinate(latitude: Double(slot), longitude: 2 * Double(slot))
    }

    struct Fault: Sendable, CustomTestStringConvertible {
        let testDescription: String
        /// A part of the sentence that has to tell it.
        let sentence: String
        let make: @Sendable (inout PointIndex) -> Void

        init(
            _ name: String, _ sentence: String,
            _ make: @escaping @Sendable (inout PointIndex) -> Void
        ) {
            (testDescription, self.sentence, self.make) = (name, sentence, make)
        }
    }

    private static let faults = [
        Fault("a slot too many", "the index counts 38 slots and holds 37") { $0.count += 1 },
        Fault("a point that is lost", "the index counts 37 slots and holds 36") {
            $0.delta.removeAll { $0.slot == 33 }
        },
        Fault("an other point that is lost", "slot 40 has 1 points, and others by slot") {
            $0.delta.removeLast()
        },
        Fault("one of several that is alone", "slot 40 has the mark of several points and one") {
            $0.delta.removeLast()
        },
        Fault("a point twice", "delta: slot 33 is alive twice") { $0.delta.append($0.delta[1]) },
        Fault("an old stamp in the delta", "delta: slot 32 has stamp 1, not") {
            $0.delta[0].stamp = 1
        },
        Fault("another stamp by slot", "delta: slot 32 has another stamp by slot") {
            $0.stamps[32] = 1
        },
        Fault("a delta that is full", "delta: 8 entries") {
            $0.fillDelta(with: place(52))
        },
        Fault("a dead entry that is not counted", "tier 0 counts 0 dead entries and has 1") {
            $0.stamps[3] = 0
        },
        Fault("a live entry that is counted as dead", "tier 1 counts 1 dead entries and has 0") {
            $0.tiers[1].dead += 1
        },
        Fault("a stamp of a slot without points", "38 slots have stamps, not 37") {
            $0.stamps.set(60, 1, fillingWith: 0)
        },
        Fault("a point elsewhere by slot", "slot 5 is at [5.0, 10.0] in its tree and elsewhere") {
            $0.positions.set(5, place(6))
        },
        Fault("tiers in a wrong order", "tier 1 begins at an epoch of the tier before it") {
            $0.tiers.swapAt(0, 1)
        },
        Fault("a tier of the current epoch", "tier 1 reaches into the current epoch") { index in
            let tier = index.tiers[1]
            index.tiers[1] = TierRecord(
                tier: tier.tier, epochs: tier.epochs.lowerBound...index.epoch)
        },
        Fault("an entry of another tier's epoch", "tier 1: slot 24 has stamp 1") {
            $0.change(24, inTier: 1) { $0.stamp = 1 }
        },
        Fault("a mark that the tier does not know of", "tier 0 does not know of the points of") {
            $0.change(7, inTier: 0) { $0.stamp |= Stamp.several }
        },
        Fault("entries in no order", "is not in the curve's order") { index in
            let leaf = Leaf(base: index.tiers[0].tier.tree.leaf(0))
            let (first, last) = (leaf.entry(0), leaf.entry(15))
            leaf.store(last, lane: 0)
            leaf.store(first, lane: 15)
        },
        Fault("a node that is too small", "tier 0, level 0: node 1 is too small") { index in
            let group = index.tiers[0].tier.tree.group(0, level: 0)
            var box = NodeBox(group: group, lane: 1)
            box.north = box.south
            box.store(group: group, lane: 1)
        },
    ]

    @Test(arguments: faults)
    func `each fault is told`(_ fault: Fault) {
        var index = Self.sound()
        #expect(index.violations() == [])
        #expect(index.tiers.map(\.tier.count) == [24, 8] && index.delta.count == 6)
        fault.make(&index)
        let told = index.violations()
        #expect(told.contains { $0.contains(fault.sentence) }, "\(told)")
    }

    @Test func `an index without trees keeps no stamps`() {
        var index = PointIndex()
        index.set(Self.place(1), for: 1)
        #expect(index.violations() == [])
        index.stamps.set(1, 1, fillingWith: 0)
        #expect(index.violations() == ["stamps are kept without tiers"])
    }

    @Test func `a box above leaves holds the boxes below it`() {
        let points = (0..<600).map {
            (
                slot: Slot($0),
                coordinate: Coordinate(latitude: Double($0 % 90), longitude: Double($0 % 170))
            )
        }
        let index = PointIndex(bulk: points)
        #expect(index.violations() == [])
        let tree = index.tiers[0].tier.tree
        #expect(tree.levels == 2)
        let group = tree.group(0, level: 1)
        var box = NodeBox(group: group, lane: 2)
        box.west = box.east
        box.store(group: group, lane: 2)
        #expect(index.violations() == ["tier 0, level 1: node 2 is too small"])
    }

    @Test func `a copy does not have the faults of the other`() {
        let index = Self.sound()
        var other = index
        other.count += 1
        other.tiers[0].dead += 1
        other.stamps[3] = 0
        other.positions.set(5, Self.place(6))
        other.delta.removeAll()
        #expect(other.violations().count >= 4 && index.violations() == [])
    }
}

extension PointIndex {
    /// Appends entries until the epoch should end, and does not end it.
    fileprivate mutating func fillDelta(with coordinate: Coordinate) {
        while delta.count < Int(deltaCapacity) {
            delta.append(Entry(slot: 60, stamp: epoch, coordinate: coordinate))
        }
    }

    /// Changes the entry of a slot in the memory of a tier.
    fileprivate func change(_ slot: Slot, inTier number: Int, _ body: (inout Entry) -> Void) {
        let tree = tiers[number].tier.tree
        for position in 0..<tree.count {
            let leaf = Leaf(base: tree.leaf(position >> 4))
            var entry = leaf.entry(position & 15)
            guard entry.slot == slot else { continue }
            body(&entry)
            leaf.store(entry, lane: position & 15)
        }
    }
}
