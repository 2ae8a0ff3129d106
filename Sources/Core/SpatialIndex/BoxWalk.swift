import Geodesy
import PersistentStructures

/// The slots of a `BoxIndex` in the order of the distance of their places, found on demand. Equal
/// distances are in the order of slots.
///
///     var walk = index.nearest(to: tower)
///     while let (slot, distance) = walk.next(measure: { places[$0].distance(from: tower) }) { … }
///
/// This is a best-first search: `open` holds nodes and entries by a lower bound of the distance of
/// what is in their boxes, `found` the slots whose distance has been measured. A found slot is next
/// when every open bound is certainly beyond its distance.
///
/// - Complexity: O((k + log n) log n) for k slots where boxes do not overlap much, and a measurement of
///   each place whose box is as near as the last of them.
/// - Reference: Hjaltason and Samet, "Distance Browsing in Spatial Databases", TODS 24(2), 1999.
/// - Note: It walks the state of the index at its beginning and keeps that state alive.
public struct BoxWalk: Sendable {
    private let index: BoxIndex
    private let bound: HaversineBound
    private let radiusMeters: Double
    private let after: MeasuredPoint?
    /// Nothing with a greater bound is opened.
    private let beyond: Double
    /// The slots with several boxes that have been measured.
    private var known: Set<Slot> = []
    private var open: BinaryHeap<OpenBox>
    private var found = BinaryHeap<FoundBox>(minimumCapacity: 16)
    private var pace = Pace()

    /// The number of places that have been measured.
    public private(set) var measuredPlaces = 0

    init(
        _ index: BoxIndex, _ position: Coordinate, radiusMeters: Double, after: MeasuredPoint?
    ) {
        self.index = index
        bound = HaversineBound(from: position)
        self.radiusMeters = radiusMeters
        self.after = after
        beyond = HaversineBound.haversine(beyond: radiusMeters)
        open = BinaryHeap(minimumCapacity: 256)
        for (number, entry) in index.delta.enumerated() {
            insert(entry.box, number: number, level: OpenBox.deltaEntry, tier: 0)
        }
        for (number, record) in index.tiers.enumerated() {
            open.insert(
                OpenBox(
                    bound: 0, number: 0, level: Int8(record.tier.shape.levels - 1),
                    tier: UInt16(number)))
        }
    }

    /// The next slot; nil if none is left, or once `isOver`, which is asked now and then, returns
    /// true.
    ///
    /// - Parameter measure: the distance of a slot's place, which lies in its boxes; nil to pass over
    ///   the slot.
    public mutating func next(
        until isOver: () -> Bool = { false }, measure: (Slot) -> Distance?
    ) -> (slot: Slot, distance: Distance)? {
        while !pace.isOver(isOver) {
            if let nearest = found.first {
                guard let candidate = open.first, candidate.bound <= nearest.beyond else {
                    _ = found.popFirst()
                    return (nearest.point.slot, nearest.point.distance)
                }
            }
            guard let candidate = open.popFirst() else { return nil }
            switch candidate.level {
            case OpenBox.deltaEntry: self.measure(index.delta[Int(candidate.number)], measure)
            case OpenBox.entry:
                let record = index.tiers[Int(candidate.tier)]
                let entry = record.tier.entry(Int(candidate.number))
                if record.dead == 0 || index.stamps[Int(entry.slot)] == entry.stamp {
                    self.measure(entry, measure)
                }
            default: openNode(candidate)
            }
        }
        return nil
    }

    private mutating func measure(_ entry: BoxEntry, _ measure: (Slot) -> Distance?) {
        if Stamp.isOneOfSeveral(entry.stamp), !known.insert(entry.slot).inserted { return }
        measuredPlaces += 1
        guard let distance = measure(entry.slot), distance.isWithin(radiusMeters: radiusMeters)
        else { return }
        let point = MeasuredPoint(distance: distance, slot: entry.slot)
        if let after, point <= after { return }
        found.insert(
            FoundBox(point: point, beyond: HaversineBound.haversine(beyond: distance.meters)))
    }

    private mutating func openNode(_ candidate: OpenBox) {
        let tier = index.tiers[Int(candidate.tier)].tier
        let (number, level) = (Int(candidate.number), Int(candidate.level))
        let isLeaf = level == OpenBox.leaf
        let columns = isLeaf ? tier.leaf(number) : tier.group(number, level: level)
        let children =
            isLeaf
            ? tier.shape.entryCount(ofLeaf: number)
            : tier.shape.childCount(ofGroup: number, level: level)
        for lane in 0..<children {
            insert(
                BoxTier.box(in: columns, lane), number: number * TierLayout.fanout + lane,
                level: candidate.level - 1, tier: candidate.tier)
        }
    }

    private mutating func insert(_ box: DegreeBox, number: Int, level: Int8, tier: UInt16) {
        let least = bound.leastHaversine(
            south: Double(box.south), west: Double(box.west), north: Double(box.north),
            east: Double(box.east))
        guard least <= beyond else { return }
        open.insert(OpenBox(bound: least, number: UInt32(number), level: level, tier: tier))
    }
}

/// A node, leaf or entry that has not been examined yet, with a bound of what is in its box.
private struct OpenBox: BitwiseCopyable, HeapOrdered, Sendable {
    let bound: Double
    let number: UInt32
    let level: Int8
    let tier: UInt16

    static let leaf = -1
    static let entry: Int8 = -2
    static let deltaEntry: Int8 = -3

    func precedes(_ other: OpenBox) -> Bool { bound < other.bound }
}

/// A slot whose distance is known.
private struct FoundBox: BitwiseCopyable, HeapOrdered, Sendable {
    let point: MeasuredPoint
    /// Every bound above this one is of something farther.
    let beyond: Double

    func precedes(_ other: FoundBox) -> Bool { point < other.point }
}
