/// A straight edge in the plane of longitude and latitude, from `a` to `b`.
///
/// What is said of two edges, or of an edge and a point, is exact: see `Orientation`.
struct PlaneEdge: BitwiseCopyable, Sendable {
    let ax, ay, bx, by: Double

    var bounds: PlaneBounds {
        PlaneBounds(
            west: min(ax, bx), south: min(ay, by), east: max(ax, bx), north: max(ay, by))
    }
}

/// Rays, which decide whether a point lies inside.
extension PlaneEdge {
    /// How a ray from a point to the left meets an edge.
    enum RayMeeting {
        case none
        /// The ray crosses the edge: its lower end belongs to it, its upper one does not.
        case crossing
        /// The point itself lies on the edge.
        case touch
    }

    /// Whether a level line crosses the edge: the lower end belongs to it, the upper one does not.
    @inline(__always)
    func crosses(_ y: Double) -> Bool { (ay > y) != (by > y) }

    @inline(__always)
    func meeting(withRayFrom x: Double, _ y: Double) -> RayMeeting {
        guard y >= min(ay, by), y <= max(ay, by) else { return .none }
        let side = Orientation.sign(ax, ay, bx, by, x, y)
        if side == 0, x >= min(ax, bx), x <= max(ax, bx) { return .touch }
        return crosses(y) && (side < 0) == (by > ay) ? .crossing : .none
    }
}

/// Rectangles.
extension PlaneEdge {
    /// Inequality: true where the edge and the rectangle have a point in common.
    func mayMeet(_ west: Double, _ south: Double, _ east: Double, _ north: Double) -> Bool {
        guard min(ax, bx) <= east, max(ax, bx) >= west, min(ay, by) <= north, max(ay, by) >= south
        else { return false }
        // All four corners strictly on one side, by more than rounding makes.
        let (dx, dy) = (bx - ax, by - ay)
        var (isLeft, isRight) = (true, true)
        for (x, y) in [(west, south), (east, south), (west, north), (east, north)] {
            let (left, right) = (dx * (y - ay), dy * (x - ax))
            let error = 1e-14 * (abs(left) + abs(right))
            isLeft = isLeft && left - right > error
            isRight = isRight && right - left > error
        }
        return !isLeft && !isRight
    }
}

/// Points and other edges.
extension PlaneEdge {
    /// Whether the point lies on the edge, its ends included.
    func contains(_ point: PlanePoint) -> Bool {
        bounds.contains(point) && side(of: point) == 0
    }

    /// Greater than 0 for a point left of the edge's line, less than 0 right of it, 0 on it.
    @inline(__always)
    func side(of point: PlanePoint) -> Double {
        Orientation.sign(ax, ay, bx, by, point.x, point.y)
    }

    var a: PlanePoint { PlanePoint(ax, ay) }
    var b: PlanePoint { PlanePoint(bx, by) }

    /// Whether the edges have a point in common, ends included. Either may have no length.
    ///
    /// Proof: edges with a common point have overlapping bounds, and neither lies strictly on one
    /// side of the other's line. The other way round, edges on different lines of which neither has
    /// both ends strictly on one side of the other's line meet where the lines do. Edges on one line
    /// meet when their bounds do. An edge without length is on one side of no line through it; it
    /// then lies on the other edge's line, and within its bounds.
    @inline(__always)
    func touches(_ other: PlaneEdge) -> Bool {
        guard bounds.overlaps(other.bounds) else { return false }
        let (a, b) = (side(of: other.a), side(of: other.b))
        if (a > 0 && b > 0) || (a < 0 && b < 0) { return false }
        let (c, d) = (other.side(of: self.a), other.side(of: self.b))
        return !((c > 0 && d > 0) || (c < 0 && d < 0))
    }

    /// Whether the edges cross at a point that is an end of neither.
    func crosses(_ other: PlaneEdge) -> Bool {
        guard bounds.overlaps(other.bounds) else { return false }
        let (a, b) = (side(of: other.a), side(of: other.b))
        guard (a > 0 && b < 0) || (a < 0 && b > 0) else { return false }
        let (c, d) = (other.side(of: self.a), other.side(of: self.b))
        return (c > 0 && d < 0) || (c < 0 && d > 0)
    }

    var isVertical: Bool { ax == bx }
}

/// A place in the plane: longitude, counted on over the antimeridian, and latitude.
typealias PlanePoint = SIMD2<Double>

/// A rectangle in the plane, edges included.
struct PlaneBounds: BitwiseCopyable, Sendable, Equatable {
    var west, south, east, north: Double

    /// No point: a union with it is the other rectangle.
    static let empty = PlaneBounds(
        west: .infinity, south: .infinity, east: -.infinity, north: -.infinity)

    @inline(__always)
    func overlaps(_ other: PlaneBounds) -> Bool {
        west <= other.east && east >= other.west && south <= other.north && north >= other.south
    }

    @inline(__always)
    func contains(_ point: PlanePoint) -> Bool {
        point.x >= west && point.x <= east && point.y >= south && point.y <= north
    }

    func intersection(_ other: PlaneBounds) -> PlaneBounds {
        PlaneBounds(
            west: max(west, other.west), south: max(south, other.south),
            east: min(east, other.east), north: min(north, other.north))
    }

    mutating func formUnion(_ other: PlaneBounds) {
        west = min(west, other.west)
        south = min(south, other.south)
        east = max(east, other.east)
        north = max(north, other.north)
    }

    /// The rectangle moved to the east, and so much wider to either side that no rounding matters.
    @inline(__always)
    func moved(byTurns turns: Int) -> PlaneBounds {
        guard turns != 0 else { return self }
        let (degrees, hair) = (360 * Double(turns), 1e-9)
        return PlaneBounds(
            west: west + degrees - hair, south: south, east: east + degrees + hair, north: north)
    }
}

extension PlaneBounds {
    init(_ point: PlanePoint) {
        self.init(west: point.x, south: point.y, east: point.x, north: point.y)
    }
}
