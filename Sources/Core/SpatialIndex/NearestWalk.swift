import Geodesy
import PersistentStructures

/// The slots of a `PointIndex` in the order of their distance, found on demand. A slot with several
/// points is as far away as the nearest of them.
///
///     var walk = index.nearest(by: GeoCircle(oslo).distance)
///     while let (slot, distance) = walk.next(), distance < .kilometers(5) { … }
///
/// This is a best-first search: `open` holds nodes and points by a lower bound of their distance (a
/// *key*, see `WalkBounds`), and `found` holds the points whose exact distance is known. A found
/// point is next when every open bound is certainly beyond its distance. An open node that may hold
/// an equally distant point is opened first, so ties are in the order of slots. Neighbours in a tree
/// that are all at one place are in `found` as one `PlaceRun`, which is read as far as the walk
/// goes: of the many objects at one place, a page visits about as many as it has. Distances on the
/// ellipsoid differ from those of the keys by up to 0.6 %, so the points of a ring of that width
/// wait in `found`. In a walk of at most sixteen points, a leaf or node with as many points limits
/// how far the walk searches.
///
/// - Complexity: O((k + log n) log n) for k points on spread-out data. A walk that begins after a
///   cursor opens the nodes that the cursor's circle cuts, and none that are wholly nearer.
/// - Reference: Hjaltason and Samet, "Distance Browsing in Spatial Databases", TODS 24(2), 1999.
/// - Note: It walks the state of the index at its beginning and keeps that state alive.
public struct NearestWalk: DistanceWalk {
    let measure: GeoMeasure
    let bounds: WalkBounds
    let radiusMeters: Double
    let after: MeasuredPoint?
    // The range of keys: nothing beyond the first, or up to the second, is opened.
    private var beyond: Float
    private let nearer: Float
    /// The number of points that may still be requested.
    private var left: Int
    /// Whether at most sixteen points will be requested, so that sixteen known points limit the
    /// search.
    private let isShort: Bool
    let index: PointIndex
    /// The slots with several points whose distance is known.
    private var known: Set<Slot> = []
    private var open: BinaryHeap<Open>
    var found: BinaryHeap<Found>
    var runs: [PlaceRun] = []
    private var pace = Pace()

    /// The number of nodes and leaves that have been opened.
    public internal(set) var visitedNodes = 0

    /// The number of points whose exact distance has become known.
    public internal(set) var visitedPoints = 0

    init(
        index: PointIndex, measure: GeoMeasure, radiusMeters: Double, after: MeasuredPoint?,
        atMost limit: Int?
    ) {
        let bounds = WalkBounds(measure)
        self.measure = measure
        self.bounds = bounds
        self.radiusMeters = radiusMeters
        self.after = after
        self.beyond = bounds.key(beyond: radiusMeters)
        // One micrometre is subtracted because points exactly at the cursor's distance may still
        // follow.
        self.nearer = after.map { bounds.key(within: $0.distance.meters - 1e-6) } ?? -1
        self.left = limit ?? .max
        self.isShort = left <= TierLayout.fanout && after == nil && bounds.orderLikeDistances
        self.index = index
        self.open = BinaryHeap(minimumCapacity: 256)
        self.found = BinaryHeap(minimumCapacity: 16)
        for first in stride(from: 0, to: index.delta.count, by: Open.batch) {
            let keys = index.delta[first..<min(first + Open.batch, index.delta.count)].lazy.map {
                bounds.key(of: $0)
            }
            open.appendUnordered(
                Open(
                    bound: keys.min() ?? 0, number: UInt32(first), level: Open.deltaBatch,
                    tier: 0))
        }
        for (number, record) in index.tiers.enumerated() {
            open.appendUnordered(
                Open(
                    bound: 0, number: 0, level: Int8(record.tier.tree.levels - 1),
                    tier: UInt16(number)))
        }
        open.restoreOrder()
    }

    /// Moves the wanted slots to the front, in their order, and returns their number.
    public typealias Selection = (UnsafeMutableBufferPointer<Slot>) -> Int

    /// The next point; `nil` if none is left.
    public mutating func next() -> (slot: Slot, distance: Distance)? { next(of: nil) { false } }

    /// The next point whose slot is wanted. Unwanted points are dropped up to sixteen at a time,
    /// before their distances are computed.
    ///
    /// - Parameter isOver: asked now and then; true ends the walk.
    public mutating func next(
        of selection: Selection?, until isOver: () -> Bool
    ) -> (slot: Slot, distance: Distance)? {
        guard left > 0 else { return nil }
        while !pace.isOver(isOver) {
            if let nearest = found.first {
                guard let candidate = open.first, candidate.bound <= nearest.beyond else {
                    _ = found.popFirst()
                    if nearest.run != Found.noRun, !goOn(with: nearest, selection) { continue }
                    left -= 1
                    return (nearest.slot, Distance(micrometers: nearest.micrometers))
                }
            }
            guard let candidate = open.popFirst() else { return nil }
            switch candidate.level {
            case Open.point, Open.deltaPoint: measure(candidate)
            case Open.leaf: openLeaf(candidate, selection)
            case Open.deltaBatch: openDelta(candidate, selection)
            default: openNodes(candidate, selection)
            }
        }
        return nil
    }

    mutating func measure(_ candidate: Open) {
        let number = Int(candidate.number)
        let slot: Slot
        let position: Coordinate
        var isOneOfSeveral = false
        if candidate.level == Open.deltaPoint {
            let entry = index.delta[number]
            (slot, position) = (entry.slot, entry.coordinate)
            isOneOfSeveral = Stamp.isOneOfSeveral(entry.stamp)
        } else {
            let record = index.tiers[Int(candidate.tier)]
            let leaf = Leaf(base: record.tier.tree.leaf(number >> 4))
            slot = leaf.slot(number & 15)
            // Stamps are on a cache line of their own.
            if !record.isPlain {
                let stamp = leaf.stamp(number & 15)
                if record.dead != 0 && index.stamps[Int(slot)] != stamp { return }
                isOneOfSeveral = Stamp.isOneOfSeveral(stamp)
            }
            position = leaf.coordinate(number & 15)
        }
        visitedPoints += 1
        if isOneOfSeveral, !known.insert(slot).inserted { return }
        let distance =
            isOneOfSeveral
            ? index.position(of: slot).distance(by: measure)! : measure.distance(to: position)
        guard distance.isWithin(radiusMeters: radiusMeters) else { return }
        if let after, MeasuredPoint(distance: distance, slot: slot) <= after { return }
        found.insert(
            Found(
                micrometers: distance.micrometers, slot: slot,
                beyond: bounds.key(beyond: distance.meters)))
    }

    private mutating func openDelta(_ candidate: Open, _ selection: Selection?) {
        visitedNodes += 1
        let first = Int(candidate.number)
        var wanted: UInt16 = 0
        for lane in 0..<min(Open.batch, index.delta.count - first) {
            let key = bounds.key(of: index.delta[first + lane])
            if key <= beyond && key > nearer { wanted |= 1 << UInt16(lane) }
        }
        if let selection {
            wanted = Self.select(wanted, selection) { index.delta[first + $0].slot }
        }
        while wanted != 0 {
            let number = first + wanted.trailingZeroBitCount
            wanted &= wanted - 1
            open.insert(
                Open(
                    bound: bounds.key(of: index.delta[number]), number: UInt32(number),
                    level: Open.deltaPoint, tier: 0))
        }
    }

    private mutating func openLeaf(_ candidate: Open, _ selection: Selection?) {
        visitedNodes += 1
        let record = index.tiers[Int(candidate.tier)]
        let number = Int(candidate.number)
        if openRun(node: number, level: 0, of: record.tier.tree, candidate.tier) { return }
        let leaf = Leaf(base: record.tier.tree.leaf(number))
        record.tier.tree.fetchPositions(ofLeaf: number)
        let keys = bounds.keys(ofLeaf: leaf.base)
        let entries = record.tier.tree.entryCount(ofLeaf: number)
        if isShort, selection == nil, record.isPlain, entries == TierLayout.fanout {
            narrow(to: keys.max())
        }
        let isWanted = (keys .<= beyond) .& (keys .> nearer)
        var rest = Lanes(touched: isWanted.bits, inside: 0).first(entries).touched
        if let selection { rest = Self.select(rest, selection) { leaf.slot($0) } }
        while rest != 0 {
            let lane = rest.trailingZeroBitCount
            rest &= rest - 1
            open.insert(
                Open(
                    bound: keys[lane], number: UInt32(number << 4 | lane), level: Open.point,
                    tier: candidate.tier))
        }
    }

    /// The lanes whose slots are wanted.
    @inline(__always)
    static func select(
        _ lanes: UInt16, _ selection: Selection, _ slot: (Int) -> Slot
    ) -> UInt16 {
        withUnsafeTemporaryAllocation(of: Slot.self, capacity: 16) { slots in
            var (count, rest) = (0, lanes)
            while rest != 0 {
                slots[count] = slot(rest.trailingZeroBitCount)
                count += 1
                rest &= rest - 1
            }
            guard count > 0 else { return 0 }
            let kept = selection(UnsafeMutableBufferPointer(rebasing: slots[..<count]))
            var (wanted, next): (UInt16, Int) = (0, 0)
            rest = lanes
            while rest != 0, next < kept {
                let lane = rest.trailingZeroBitCount
                rest &= rest - 1
                guard slot(lane) == slots[next] else { continue }
                wanted |= 1 << UInt16(lane)
                next += 1
            }
            return wanted
        }
    }

    /// Excludes everything that is certainly farther than sixteen points up to this key.
    private mutating func narrow(to key: Float) {
        if key < beyond { beyond = min(beyond, bounds.key(beyondAllUpTo: key)) }
    }

    private mutating func openNodes(_ candidate: Open, _ selection: Selection?) {
        visitedNodes += 1
        let record = index.tiers[Int(candidate.tier)]
        let tree = record.tier.tree
        let level = Int(candidate.level)
        let number = Int(candidate.number)
        if openRun(node: number, level: level + 1, of: tree, candidate.tier) { return }
        let keys = bounds.keys(ofNodes: tree.group(number, level: level))
        if isShort, selection == nil, record.isPlain {
            // Every node of a level except the last has at least sixteen points below it.
            let full = (tree.nodeCount(level: level) - 1) - number * TierLayout.fanout
            if full >= TierLayout.fanout { narrow(to: keys.farthest.min()) }
        }
        let isWanted = (keys.nearest .<= beyond) .& (keys.farthest .> nearer)
        var rest = Lanes(touched: isWanted.bits, inside: 0)
            .first(tree.childCount(ofGroup: number, level: level)).touched
        while rest != 0 {
            let lane = rest.trailingZeroBitCount
            rest &= rest - 1
            if level == 0 { tree.fetchChords(ofLeaf: number << 4 | lane) }
            open.insert(
                Open(
                    bound: keys.nearest[lane], number: UInt32(number << 4 | lane),
                    level: candidate.level - 1, tier: candidate.tier))
        }
    }
}

/// A node, leaf or point that has not been examined yet, with its key or the least key below it.
struct Open: BitwiseCopyable, HeapOrdered, Sendable {
    let bound: Float
    let number: UInt32
    let level: Int8
    let tier: UInt16

    static let leaf: Int8 = -1
    static let point: Int8 = -2
    static let deltaPoint: Int8 = -3
    static let deltaBatch: Int8 = -4

    /// The number of neighbouring entries of the delta that wait as one element.
    static let batch = 16

    func precedes(_ other: Open) -> Bool { bound < other.bound }
}

/// A point whose distance is known, or the beginning of a run.
struct Found: BitwiseCopyable, HeapOrdered, Sendable {
    let micrometers: Int64
    let slot: Slot

    /// Every key above this one belongs to a distance above this one.
    let beyond: Float

    /// The number of the run, or `noRun` for a point.
    var run = Self.noRun

    static let noRun = UInt32.max

    func precedes(_ other: Found) -> Bool {
        micrometers < other.micrometers || (micrometers == other.micrometers && slot < other.slot)
    }
}
