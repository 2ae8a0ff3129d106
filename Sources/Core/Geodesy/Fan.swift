/// What lies around one point of the plane: the edges of two sets `a` and `b` that leave it, by their
/// directions, and which sectors between them belong to the sets.
struct Fan {
    /// On which sides of edges in one direction, as they leave the point, areas of a set lie.
    private struct Sides: OptionSet {
        let rawValue: UInt8
        static let left = Sides(rawValue: 1)
        static let right = Sides(rawValue: 2)
        /// There is an edge of a line.
        static let line = Sides(rawValue: 4)

        /// Whether the sector to the left is in the set; nil if it is as the one to the right.
        ///
        /// Two edges along each other, of areas on both sides, leave no gap.
        var isInsideLeft: Bool? {
            contains(.left) ? true : (contains(.right) ? false : nil)
        }
    }

    private struct Direction {
        let end: PlanePoint
        var (a, b): (Sides, Sides)
    }

    private let point: PlanePoint
    private var directions: [Direction] = []

    init(around point: PlanePoint) { self.point = point }

    /// Adds what leaves the point along an edge that holds it: one ray from an end, two from between.
    mutating func add(_ edge: PlaneEdge, toA isOfA: Bool, isOfArea: Bool) {
        if edge.b != point { add(edge.b, isOfArea ? .left : .line, toA: isOfA) }
        if edge.a != point { add(edge.a, isOfArea ? .right : .line, toA: isOfA) }
    }

    private mutating func add(_ end: PlanePoint, _ sides: Sides, toA isOfA: Bool) {
        directions.append(Direction(end: end, a: isOfA ? sides : [], b: isOfA ? [] : sides))
    }

    var hasEdgesOfA: Bool { directions.contains { !$0.a.isEmpty } }
    var hasEdgesOfB: Bool { directions.contains { !$0.b.isEmpty } }

    /// Whether all of `a` around the point lies in `b`, edges included.
    ///
    /// - Parameters: whether a set without edges here has all around the point.
    func isAInB(isInA: Bool, isInB: Bool) -> Bool {
        let directions = merged()
        var isInA = directions.lazy.compactMap(\.a.isInsideLeft).last ?? isInA
        var isInB = directions.lazy.compactMap(\.b.isInsideLeft).last ?? isInB
        guard !directions.isEmpty else { return !isInA || isInB }
        for direction in directions {
            if direction.a.contains(.line), direction.b.isEmpty, !isInB { return false }
            isInA = direction.a.isInsideLeft ?? isInA
            isInB = direction.b.isInsideLeft ?? isInB
            if isInA, !isInB { return false }
        }
        return true
    }

    /// Counterclockwise from the east, each direction once.
    private func merged() -> [Direction] {
        var merged: [Direction] = []
        for direction in directions.sorted(by: { isBefore($0.end, $1.end) }) {
            if let last = merged.last, !isBefore(last.end, direction.end) {
                merged[merged.count - 1].a.formUnion(direction.a)
                merged[merged.count - 1].b.formUnion(direction.b)
            } else {
                merged.append(direction)
            }
        }
        return merged
    }

    private func isBefore(_ a: PlanePoint, _ b: PlanePoint) -> Bool {
        let (isUpperA, isUpperB) = (isUpper(a), isUpper(b))
        guard isUpperA == isUpperB else { return isUpperA }
        return Orientation.sign(point.x, point.y, a.x, a.y, b.x, b.y) > 0
    }

    private func isUpper(_ end: PlanePoint) -> Bool {
        end.y > point.y || (end.y == point.y && end.x > point.x)
    }
}
