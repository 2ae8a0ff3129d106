import Geodesy
import PersistentStructures

/// A spatial index of points. It finds the slots in a shape and the slots nearest to a place.
///
///     var index = PointIndex()
///     index.set(Coordinate(latitude: 59.91, longitude: 10.75), for: 17)
///     let circle = GeoCircle(Coordinate(latitude: 59.9, longitude: 10.7))
///     var walk = index.nearest(by: circle.distance)
///     walk.next()                             // slot 17, 3.0 km
///
/// It is a value: a copy is a snapshot, made in O(1), that later writes do not change.
///
/// The latest writes are in an unsorted `delta`. The rest are in packed Hilbert R-trees, arranged
/// in tiers with the oldest and largest first (Bentley and Saxe's logarithmic method). A full delta
/// becomes a tier, and small tiers are merged immediately. `pendingMerge` returns merges of large
/// tiers as jobs, so that no writer waits for them. An index of few points is only a delta.
///
/// Each filling of the delta is an *epoch*, and the epoch is the stamp of its entries. `stamps`
/// holds the current stamp of every slot, or 0 for none. An entry is live while its stamp is that
/// of its slot. Moving or removing a point in a tree therefore writes one stamp and no tree.
///
/// All points of a slot are entries of one epoch. They carry a mark, so that a query
/// answers with their slot once. Entries without it cost nothing.
///
/// - Complexity: a query for a shape is O(tiers * log n + hits) on spread-out data; a write is
///   O(log n) amortised. A point takes about 59 bytes, as do the other points of its slot.
/// - Reference: Bentley and Saxe, "Decomposable searching problems", J. Algorithms 1(4), 1980.
/// - Note: Equal distances are ordered by slot. The points in a shape have no order.
public struct PointIndex: PointSet {
    /// Behind one reference: an index is passed on often, and its parts have many.
    private var parts: Shared<Parts>

    private struct Parts: Sendable {
        var tiers: [TierRecord<Tier>] = []
        var delta: [Entry] = []
        var epoch: UInt32
        let deltaCapacity: UInt32
        var stamps = PersistentArray<UInt32>()
        var positions = SlotPositions()
        var count = 0
    }

    /// The trees, oldest first. The epochs of each tier follow those of the previous one.
    var tiers: [TierRecord<Tier>] {
        _read { yield parts.value.tiers }
        _modify { yield &parts.value.tiers }
    }

    /// The entries of the current epoch. All are live.
    var delta: [Entry] {
        _read { yield parts.value.delta }
        _modify { yield &parts.value.delta }
    }

    /// The stamp of the delta's entries, never 0. It changes when the delta is full.
    public internal(set) var epoch: UInt32 {
        _read { yield parts.value.epoch }
        _modify { yield &parts.value.epoch }
    }

    /// The number of entries in the delta before it becomes a tier. The other sizes derive from it.
    var deltaCapacity: UInt32 { parts.value.deltaCapacity }

    /// The current stamp of each slot, 0 for none; empty while there are no tiers.
    var stamps: PersistentArray<UInt32> {
        _read { yield parts.value.stamps }
        _modify { yield &parts.value.stamps }
    }

    /// The points of each slot that has any; empty while there are no tiers.
    var positions: SlotPositions {
        _read { yield parts.value.positions }
        _modify { yield &parts.value.positions }
    }

    /// The number of slots that have points.
    public internal(set) var count: Int {
        _read { yield parts.value.count }
        _modify { yield &parts.value.count }
    }

    /// The number of points.
    public var pointCount: Int { tiers.isEmpty ? delta.count : count + positions.otherCount }

    /// The average number of points of the slots that have any; 1 if there are none.
    public var pointsPerSlot: Double { count == 0 ? 1 : Double(pointCount) / Double(count) }

    /// Whether some slot has several points.
    public var hasSeveral: Bool { pointCount > count }

    /// An empty index. It takes one allocation.
    public init() { self.init(deltaCapacity: Self.defaultDeltaCapacity) }

    /// - Parameter deltaCapacity: the number of written points that become a tree; at least 8.
    public init(deltaCapacity: Int) {
        self.init(epoch: Self.firstEpoch, deltaCapacity: UInt32(deltaCapacity))
    }

    init(epoch: UInt32, deltaCapacity: UInt32) {
        parts = Shared(Parts(epoch: epoch, deltaCapacity: deltaCapacity))
    }

    /// The epoch of an index that nobody has written to.
    static let firstEpoch: UInt32 = 1

    /// The default number of written points that become a tree.
    public static let defaultDeltaCapacity = 256

    /// A packed index of these points. A slot may have several.
    ///
    /// - Complexity: O(n) if slots ascend, about 0.3 microseconds a point, with 16 bytes of scratch
    ///   memory a point; otherwise O(n log n).
    public init(bulk points: [(slot: Slot, coordinate: Coordinate)]) {
        self.init(bulk: points, deltaCapacity: Self.defaultDeltaCapacity)
    }

    /// A packed index of these points. A slot may have several.
    ///
    /// - Parameter deltaCapacity: the number of written points that become a tree; at least 8.
    /// - Complexity: O(n) if slots ascend, otherwise O(n log n).
    public init(bulk points: [(slot: Slot, coordinate: Coordinate)], deltaCapacity: Int) {
        let bulk = BulkIndex(points, deltaCapacity: deltaCapacity)
        self = bulk.index((0..<BulkIndex.parts).map(bulk.part))
    }

    /// An index of the parts of a bulk load.
    init(_ slots: BulkIndex.BySlot, _ tree: Tier, deltaCapacity: Int) {
        self.init(deltaCapacity: deltaCapacity)
        (stamps, positions, count) = (slots.stamps, slots.positions, slots.count)
        tiers = [TierRecord(tier: tree, epochs: epoch...epoch)]
        epoch += 1
    }

    /// Where a slot's points are, with exactly the numbers that were set.
    ///
    /// - Complexity: O(points of the slot); O(points) in an index of fewer than 256 points.
    public func position(of slot: Slot) -> SlotPosition {
        if tiers.isEmpty {
            guard let entry = delta.first(where: { $0.slot == slot }) else { return .nowhere }
            guard Stamp.isOneOfSeveral(entry.stamp) else { return .one(entry.coordinate) }
            return .several(delta.filter { $0.slot == slot }.map(\.coordinate))
        }
        let stamp = currentStamp(of: slot)
        if stamp == 0 { return .nowhere }
        guard Stamp.isOneOfSeveral(stamp) else { return .one(positions.first[Int(slot)]) }
        return .several(positions.points(of: slot))
    }

    /// The memory of the index in bytes, as if it shared nothing with its copies.
    public var memoryBytes: Int {
        MemoryLayout<Parts>.size + 40 + (delta.capacity > 0 ? 48 : 0)
            + delta.capacity * MemoryLayout<Entry>.stride
            + tiers.reduce(0) { $0 + $1.tier.tree.memoryBytes + 160 }
            + stamps.memoryBytes + positions.memoryBytes
    }

    /// A bulk load of fewer points builds no tree; 64 for the default capacity of the delta.
    static func smallestTree(deltaCapacity: Int) -> Int { deltaCapacity / 4 }
}
