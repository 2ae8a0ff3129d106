import Geodesy
import PersistentStructures

/// The points of a bulk load in ascending order of their slots. No two points of a slot are
/// identical.
struct BulkPoints {
    typealias Point = (slot: Slot, coordinate: Coordinate)

    let all: [Point]

    /// Whether some slot has several points.
    let hasSeveral: Bool

    /// - Complexity: O(n) if slots ascend, otherwise O(n log n). A list without slots that have
    ///   several points is not copied.
    init(_ points: [Point]) {
        var points = points
        var pairs = zip(points, points.dropFirst())
        if !pairs.allSatisfy({ $0.slot <= $1.slot }) {
            // Points of one slot keep their order.
            points = points.enumerated().sorted {
                ($0.element.slot, $0.offset) < ($1.element.slot, $1.offset)
            }.map(\.element)
            pairs = zip(points, points.dropFirst())
        }
        hasSeveral = pairs.contains { $0.slot == $1.slot }
        guard hasSeveral else {
            all = points
            return
        }
        var distinct: [Point] = []
        distinct.reserveCapacity(points.count)
        Self.forEachSlot(points) { slot, points in
            if points.count == 1 {
                distinct += points
            } else {
                let position = SlotPosition(points.map(\.coordinate))
                for point in position.points { distinct.append((slot, point)) }
            }
        }
        all = distinct
    }

    /// The slots that have several points.
    var slotsWithSeveral: SlotSet {
        var several: [Slot] = []
        if hasSeveral {
            forEachSlot { slot, points in if points.count > 1 { several.append(slot) } }
        }
        return SlotSet(several, below: several.last.map { Int($0) + 1 } ?? 0)
    }

    /// Calls `body` with each slot and its points.
    func forEachSlot(_ body: (Slot, ArraySlice<Point>) -> Void) { Self.forEachSlot(all, body) }

    private static func forEachSlot(_ points: [Point], _ body: (Slot, ArraySlice<Point>) -> Void) {
        var first = 0
        while first < points.count {
            let slot = points[first].slot
            var end = first + 1
            while end < points.count, points[end].slot == slot { end += 1 }
            body(slot, points[first..<end])
            first = end
        }
    }
}
