import Geodesy
import PersistentStructures

/// Places by boxes that are searched linearly: slow, short and obviously correct.
///
/// Tests compare `BoxIndex` with it: that finds the same slots, and perhaps others within a ten
/// thousandth of a degree.
///
/// - Complexity: O(n) for a query, O(n log n) for a walk, O(1) for a write.
public struct BoxScan: Sendable {
    private var places: [Slot: [PreparedPlace.Piece]] = [:]

    /// An empty set.
    public init() {}

    /// The number of slots that have boxes.
    public var count: Int { places.count }

    /// Sets the boxes of a slot, and replaces former ones; without pieces the slot is removed.
    public mutating func set(_ pieces: [PreparedPlace.Piece], for slot: Slot) {
        places[slot] = pieces.isEmpty ? nil : pieces
    }

    /// Removes the boxes of a slot, if it has any.
    public mutating func remove(_ slot: Slot) { places[slot] = nil }

    /// The slots that have a box which meets this one, and whether one of those lies wholly in the
    /// place.
    public func slots(meeting box: GeoBox) -> [Slot: Bool] {
        places.compactMapValues { pieces in
            let meeting = pieces.filter { $0.box.meets(box) }
            return meeting.isEmpty ? nil : meeting.contains(where: \.isWhole)
        }
    }

    /// The slots within a radius in the order of their distance, then of their number.
    public func nearest(
        within radiusMeters: Double = .infinity, measure: (Slot) -> Distance?
    ) -> [MeasuredPoint] {
        places.keys.compactMap { slot in
            measure(slot).map { MeasuredPoint(distance: $0, slot: slot) }
        }.filter { $0.distance.isWithin(radiusMeters: radiusMeters) }.sorted()
    }
}

extension GeoBox {
    /// Whether the boxes have a point in common.
    func meets(_ other: GeoBox) -> Bool {
        guard south <= other.north, north >= other.south else { return false }
        let (mine, others) = (longitudeRanges, other.longitudeRanges)
        let second = mine.1 ?? mine.0
        return [others.0, others.1 ?? others.0].contains {
            $0.overlaps(mine.0) || $0.overlaps(second)
        }
    }
}
