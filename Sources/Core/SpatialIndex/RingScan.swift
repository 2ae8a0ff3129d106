import Geodesy
import PersistentStructures

/// The slots behind a cursor whose points are exactly as far away as the cursor, in their order: many
/// points on a parallel around the pole, or on a circle that somebody has drawn.
///
/// A tree finds all of them or none. If they are many, the next few are not far behind the cursor in
/// the order of the slots. So a page looks at the slots one after the other, and all pages together at
/// each slot once.
struct RingScan: Sendable {
    private let distance: Distance
    private let index: PointIndex
    private let measure: GeoMeasure
    private let bounds: WalkBounds
    /// The keys of points at the distance are above the first and up to the second.
    private let (nearer, beyond): (Float, Float)
    private var slot: Int
    private var waiting: ArraySlice<Slot> = []

    /// The fewest points at the distance of a cursor for which slots are looked at: the larger the
    /// index, the more, because the fewer they are, the more slots lie between two of them.
    static func leastTies(of index: PointIndex) -> Int {
        max(256, Int(Double(index.stamps.count).squareRoot()))
    }

    /// The slots that are looked at in one step.
    private static let slotsAtOnce = 16

    init(
        _ cursor: MeasuredPoint, _ index: PointIndex, _ measure: GeoMeasure, _ bounds: WalkBounds
    ) {
        distance = cursor.distance
        (self.index, self.measure, self.bounds) = (index, measure, bounds)
        (nearer, beyond) = (
            bounds.key(within: distance.meters - 1e-6), bounds.key(beyond: distance.meters)
        )
        slot = Int(cursor.slot) + 1
    }

    /// Whether all slots have been looked at.
    var isOver: Bool { waiting.isEmpty && slot >= index.stamps.count }

    /// The next slot that is wanted; nil if there is none among the next few slots.
    ///
    /// - Parameter visited: the slots that are looked at are added to it.
    mutating func next(_ selection: NearestWalk.Selection?, counting visited: inout Int) -> Slot? {
        if waiting.isEmpty { look(selection, &visited) }
        return waiting.popFirst()
    }

    private mutating func look(_ selection: NearestWalk.Selection?, _ visited: inout Int) {
        let slots = slot..<max(slot, min(slot + Self.slotsAtOnce, index.stamps.count))
        slot = slots.upperBound
        visited += slots.count
        var found = slots.map { Slot($0) }.filter(isTied)
        if let selection {
            let kept = found.withUnsafeMutableBufferPointer { selection($0) }
            found.removeLast(found.count - kept)
        }
        waiting = found[...]
    }

    private func isTied(_ slot: Slot) -> Bool {
        switch index.position(of: slot) {
        case .nowhere: false
        case .one(let point):
            isPerhapsTied(point) && measure.distance(to: point) == distance
        case .several(let points): measure.nearest(points) == distance
        }
    }

    /// A key is cheaper than a distance on the ellipsoid.
    private func isPerhapsTied(_ point: Coordinate) -> Bool {
        guard !bounds.orderLikeDistances else { return true }
        let key = bounds.key(of: point)
        return key > nearer && key <= beyond
    }
}
