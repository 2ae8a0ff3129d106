import Geodesy
import PersistentStructures

/// A spatial index of places by boxes around their pieces. It finds the slots whose boxes meet a
/// box, and slots in the order of the distance of their places.
///
///     var index = BoxIndex()
///     index.set(zone.pieces(limit: 64), for: 17)
///     index.visit(meeting: view) { slot, isSure in … }        // slot 17
///
/// It is a value: a copy is a snapshot, made in O(1), that later writes do not change. It is built as
/// `PointIndex` is: an unsorted delta of the latest writes, packed trees in tiers (`TieredIndex`), and
/// stamps by slot, so that a removal writes no tree.
///
/// Boxes are kept with their edges moved outward to the next `Float`, a metre or less. What they
/// find are candidates: whether a place itself meets something, its caller tells (`PreparedPlace`).
/// A slot has any number of boxes. Those that cross the antimeridian are kept as two.
///
/// - Complexity: a search is O(tiers * log n + hits) where boxes do not overlap much; a write is
///   O(log n) amortised. A box takes about 32 bytes.
/// - Note: What is found has no order, but for walks.
public struct BoxIndex: Sendable {
    /// Behind one reference: an index is passed on often, and its parts have many.
    private var parts: Shared<Parts>

    private struct Parts: Sendable {
        var tiers: [TierRecord<BoxTier>] = []
        var delta: [BoxEntry] = []
        var epoch: UInt32
        let deltaCapacity: UInt32
        var stamps = PersistentArray<UInt32>()
        var sizes = PersistentArray<UInt16>()
        var count = 0
        var boxCount = 0
    }

    /// The trees, oldest first. The epochs of each tier follow those of the previous one.
    var tiers: [TierRecord<BoxTier>] {
        _read { yield parts.value.tiers }
        _modify { yield &parts.value.tiers }
    }

    /// The entries of the current epoch. All are live.
    var delta: [BoxEntry] {
        _read { yield parts.value.delta }
        _modify { yield &parts.value.delta }
    }

    /// The stamp of the delta's entries, never 0. It changes when the delta is full.
    var epoch: UInt32 {
        _read { yield parts.value.epoch }
        _modify { yield &parts.value.epoch }
    }

    var deltaCapacity: UInt32 { parts.value.deltaCapacity }

    /// The current stamp of each slot, 0 for none; empty while there are no tiers.
    var stamps: PersistentArray<UInt32> {
        _read { yield parts.value.stamps }
        _modify { yield &parts.value.stamps }
    }

    /// The number of entries of each slot that has any; empty while there are no tiers.
    var sizes: PersistentArray<UInt16> {
        _read { yield parts.value.sizes }
        _modify { yield &parts.value.sizes }
    }

    /// The number of slots that have boxes.
    public internal(set) var count: Int {
        _read { yield parts.value.count }
        _modify { yield &parts.value.count }
    }

    /// The number of boxes; one that crosses the antimeridian is two.
    public internal(set) var boxCount: Int {
        _read { yield parts.value.boxCount }
        _modify { yield &parts.value.boxCount }
    }

    /// An empty index. It takes one allocation.
    public init() { self.init(deltaCapacity: PointIndex.defaultDeltaCapacity) }

    /// - Parameter deltaCapacity: the number of written boxes that become a tree; at least 8.
    public init(deltaCapacity: Int) {
        self.init(epoch: PointIndex.firstEpoch, deltaCapacity: UInt32(deltaCapacity))
    }

    init(epoch: UInt32, deltaCapacity: UInt32) {
        parts = Shared(Parts(epoch: epoch, deltaCapacity: deltaCapacity))
    }

    /// A packed index of the pieces of some slots, each of which comes once.
    ///
    /// - Complexity: O(n), if slots ascend.
    public init(
        bulk places: [(slot: Slot, pieces: [PreparedPlace.Piece])],
        deltaCapacity: Int = PointIndex.defaultDeltaCapacity
    ) {
        self.init(deltaCapacity: deltaCapacity)
        var entries: [BoxEntry] = []
        for (slot, pieces) in places {
            entries += Self.entries(pieces, of: slot, epoch: epoch)
        }
        load(entries)
    }

    /// Makes an empty index one of some entries of the current epoch.
    mutating func load(_ entries: [BoxEntry]) {
        boxCount = entries.count
        guard entries.count >= PointIndex.smallestTree(deltaCapacity: Int(deltaCapacity)) else {
            delta = entries
            count = Set(entries.lazy.map(\.slot)).count
            return
        }
        for entry in entries { enter(entry) }
        count = (0..<stamps.count).count { stamps[$0] != 0 }
        tiers = [TierRecord(tier: BoxTier(entries), epochs: epoch...epoch)]
        epoch += 1
    }

    /// Enters an entry by its slot.
    mutating func enter(_ entry: BoxEntry) {
        stamps.set(Int(entry.slot), entry.stamp, fillingWith: 0)
        let size = Int(entry.slot) < sizes.count ? sizes[Int(entry.slot)] : 0
        sizes.set(Int(entry.slot), size + 1, fillingWith: 0)
    }

    /// The memory of the index in bytes, as if it shared nothing with its copies.
    public var memoryBytes: Int {
        MemoryLayout<Parts>.size + 40 + (delta.capacity > 0 ? 48 : 0)
            + delta.capacity * MemoryLayout<BoxEntry>.stride
            + tiers.reduce(0) { $0 + $1.tier.memoryBytes + 160 }
            + stamps.memoryBytes + sizes.memoryBytes
    }

    /// Whether a slot has boxes. O(boxes) in an index of few.
    public func contains(_ slot: Slot) -> Bool {
        tiers.isEmpty ? delta.contains { $0.slot == slot } : currentStamp(of: slot) != 0
    }
}

extension BoxIndex {
    /// The entries of a slot with these pieces.
    static func entries(
        _ pieces: [PreparedPlace.Piece], of slot: Slot, epoch: UInt32
    ) -> [BoxEntry] {
        let boxes = pieces.flatMap { piece in
            DegreeBox.boxes(piece.box).map { (box: $0, isWhole: piece.isWhole) }
        }
        precondition(boxes.count <= UInt16.max, "\(boxes.count) boxes of one slot")
        let stamp = boxes.count > 1 ? epoch | Stamp.several : epoch
        return boxes.map { BoxEntry(slot: slot, stamp: stamp, box: $0.box, isWhole: $0.isWhole) }
    }
}
