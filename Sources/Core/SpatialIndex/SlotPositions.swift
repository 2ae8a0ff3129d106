import Geodesy
import PersistentStructures

/// The position of each slot. A copy shares what neither has changed since.
///
/// The first point of a slot is in an array by slot. It does not know which slots have points;
/// `PointIndex.stamps` says so.
struct SlotPositions: Sendable {
    private(set) var first = PersistentArray<Coordinate>()
    /// The other points, if there are any; then it has one element. An array, so that an index
    /// without such points stays small.
    private var others: [OtherPoints] = []

    static let nowhere = Coordinate(latitude: 0, longitude: 0)

    init() {}

    /// One point for each slot of an array.
    init(first: PersistentArray<Coordinate>) { self.first = first }

    var memoryBytes: Int { first.memoryBytes + (others.first?.memoryBytes ?? 0) }

    /// The number of points that are not the first of their slot.
    var otherCount: Int { others.first?.count ?? 0 }

    /// Replaces the points of a slot by one.
    mutating func set(_ slot: Slot, _ point: Coordinate) {
        removeOthers(of: slot)
        first.set(Int(slot), point, fillingWith: Self.nowhere)
    }

    /// Replaces the points of a slot, of which there is at least one.
    mutating func set(_ slot: Slot, _ points: [Coordinate]) {
        set(slot, points[0])
        guard points.count > 1 else { return }
        if others.isEmpty { others.append(OtherPoints()) }
        others[0].set(slot, points.dropFirst())
    }

    /// Removes all points of a slot but the first.
    mutating func removeOthers(of slot: Slot) {
        guard !others.isEmpty else { return }
        others[0].remove(slot)
        if others[0].count == 0 { others = [] }
    }

    /// The points of a slot that has any, in the order in which they were set.
    func points(of slot: Slot) -> [Coordinate] {
        [first[Int(slot)]] + (others.first?.points(of: slot) ?? [])
    }
}
