import Geodesy
import PersistentStructures

/// A spatial index of points: which lie in this shape, and which are nearest.
///
///     var index = PointIndex()
///     index.set(Coordinate(latitude: 59.91, longitude: 10.75), for: 17)
///     let circle = GeoCircle(Coordinate(latitude: 59.9, longitude: 10.7))
///     var walk = index.nearest(by: circle.distance)
///     walk.next()                             // slot 17, 3.0 km
///
/// A value: a copy is a snapshot, made in O(1), that later writes do not change.
///
/// The latest writes are an unsorted `delta`; the rest are packed Hilbert R-trees in tiers, the
/// oldest and largest first (Bentley and Saxe's logarithmic method). A full delta becomes a tier,
/// small tiers merge immediately; `pendingMerge` returns merges of large ones as jobs, so that no
/// writer waits for them. Few points are only a delta, in one allocation.
///
/// Each filling of the delta is an *epoch*, and the epoch is the stamp of its entries. `stamps`
/// holds the current stamp of every slot, 0 for none; an entry is live while its stamp is its
/// slot's. So moving or removing a point in a tree writes one stamp and no tree.
///
/// - Complexity: a query about a shape O(tiers * log n + hits) on spread-out data; a write O(log n)
///   amortised. About 59 bytes a point.
/// - Reference: Bentley and Saxe, "Decomposable searching problems", J. Algorithms 1(4), 1980.
/// - Note: Equal distances are ordered by slot. Answers about shapes have no order.
public struct PointIndex: PointSet {
    /// The trees, oldest first; the epochs of each follow those of the one before.
    var tiers: [TierRecord] = []

    /// The entries of the current epoch: all live, one a slot.
    var delta: [Entry] = []

    /// The stamp of the delta's entries, never 0; it changes when enough has been written to fill it.
    public internal(set) var epoch: UInt32

    /// How many entries the delta takes before it becomes a tier; the other sizes follow from it.
    let deltaCapacity: UInt32

    /// The current stamp of each slot, 0 for none; empty while there are no tiers.
    var stamps = PersistentArray<UInt32>()

    /// The point of each slot that has one; empty while there are no tiers.
    var coordinates = PersistentArray<Coordinate>()

    /// How many points there are.
    public internal(set) var count = 0

    /// An index without points; it allocates nothing.
    public init() { self.init(deltaCapacity: Self.defaultDeltaCapacity) }

    /// - Parameter deltaCapacity: how many points are written before they become a tree; at least 8.
    public init(deltaCapacity: Int) {
        self.init(epoch: 1, deltaCapacity: UInt32(deltaCapacity))
    }

    init(epoch: UInt32, deltaCapacity: UInt32) {
        self.epoch = epoch
        self.deltaCapacity = deltaCapacity
    }

    /// How many points are written before they become a tree, unless stated otherwise.
    public static let defaultDeltaCapacity = 256

    /// A packed index of these points; the last of several for one slot counts.
    ///
    /// - Complexity: O(n), some 0.3 microseconds a point, when slots ascend; 16 bytes a point of
    ///   scratch memory. Otherwise O(n log n).
    public init(bulk points: [(slot: Slot, coordinate: Coordinate)]) {
        self.init(bulk: points, deltaCapacity: Self.defaultDeltaCapacity)
    }

    /// A packed index of these points; the last of several for one slot counts.
    ///
    /// - Parameter deltaCapacity: how many points are written before they become a tree; at least
    ///   8.
    /// - Complexity: O(n) when slots ascend, otherwise O(n log n).
    public init(bulk points: [(slot: Slot, coordinate: Coordinate)], deltaCapacity: Int) {
        self.init(deltaCapacity: deltaCapacity)
        let ascends = zip(points, points.dropFirst()).allSatisfy { $0.slot < $1.slot }
        let points = ascends ? points : Self.lastOfEachSlot(points)
        if points.count < smallestTree {
            delta = points.map { Entry(slot: $0.slot, stamp: epoch, coordinate: $0.coordinate) }
            count = points.count
        } else {
            pack(points)
        }
    }

    private static func lastOfEachSlot(
        _ points: [(slot: Slot, coordinate: Coordinate)]
    ) -> [(slot: Slot, coordinate: Coordinate)] {
        Dictionary(points.map { ($0.slot, $0.coordinate) }) { _, last in last }
            .map { (slot: $0.key, coordinate: $0.value) }.sorted { $0.slot < $1.slot }
    }

    /// The point of a slot, with exactly the numbers that were set.
    ///
    /// - Complexity: O(1); O(points) in an index of fewer than 256 points.
    public func position(of slot: Slot) -> Coordinate? {
        if tiers.isEmpty { return delta.first { $0.slot == slot }?.coordinate }
        return currentStamp(of: slot) == 0 ? nil : coordinates[Int(slot)]
    }

    /// The stamp of a slot, 0 if it has no point; only for an index with tiers.
    func currentStamp(of slot: Slot) -> UInt32 {
        Int(slot) < stamps.count ? stamps[Int(slot)] : 0
    }

    /// Bytes of the index, as if it shared nothing with its copies.
    public var memoryBytes: Int {
        MemoryLayout<Self>.size + (delta.capacity > 0 ? 48 : 0)
            + delta.capacity * MemoryLayout<Entry>.stride
            + tiers.reduce(0) { $0 + $1.tier.tree.memoryBytes + 160 }
            + stamps.memoryBytes + coordinates.memoryBytes
    }

    // Sizes that shape the index; in brackets with the default capacity of the delta.

    /// A bulk load of fewer points makes no tree (64).
    var smallestTree: Int { Int(deltaCapacity) / 4 }

    /// A tier of so many entries is sealed: it is merged by a `MergeJob` only (2,048).
    var sealedSize: Int { Int(deltaCapacity) * 8 }

    /// An index with trees that shrinks to so few points goes back to a delta alone (32).
    var smallestForest: Int { Int(deltaCapacity) / 8 }

    /// With more tiers than this, or more dead entries than live ones and `sealedSize`, a write
    /// merges on the spot what nobody merged in the background.
    static let maximumTiers = 32
}

/// A tier and the state of its entries.
struct TierRecord: Sendable {
    let tier: Tier

    /// The stamps of its entries lie in this range, and those of no other tier do.
    let epochs: ClosedRange<UInt32>

    /// How many of its entries are dead.
    var dead = 0

    var live: Int { tier.count - dead }

    /// Whether enough entries are dead to rebuild the tier.
    var isStale: Bool { dead * 4 > tier.count }
}
