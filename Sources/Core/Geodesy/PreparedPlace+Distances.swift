/// Great-circle distances to places.
///
/// To an edge they are within 1e-3 m of exact arithmetic, to a vertex, to a point and to the rim of a
/// circle as exact as `Sphere.distance`.
extension PreparedPlace {
    /// The least distance from a position to any point of the place; 0 inside.
    public func distance(from position: Coordinate) -> Distance {
        switch form {
        case .point(let point): return Sphere.distance(position, point)
        case .circle(let circle):
            return .meters(max(0, Sphere.meters(position, circle.center) - circle.radiusMeters))
        case .outline(let outline):
            if outline.isArea, outline.contains(position) { return .zero }
            var search = EdgeDistance(from: position)
            search.look(at: outline)
            return .meters(search.meters!)
        }
    }

    /// The greatest distance from a position to any point of the place.
    public func greatestDistance(from position: Coordinate) -> Distance {
        let farthest = Double.pi * Sphere.radiusMeters
        switch form {
        case .point(let point): return Sphere.distance(position, point)
        case .circle(let circle):
            return .meters(
                min(farthest, Sphere.meters(position, circle.center) + circle.radiusMeters))
        case .outline(let outline):
            if outline.isArea, outline.contains(position.antipode) { return .meters(farthest) }
            var search = EdgeDistance(from: position, isFarthest: true)
            search.look(at: outline)
            return .meters(search.meters!)
        }
    }
}

extension Outline {
    /// Whether every point of a circle lies in the area: no edge is nearer to the centre, but for
    /// those that bound nothing.
    func contains(_ circle: GeoCircle) -> Bool {
        guard isArea, contains(circle.center) else { return false }
        let seams = Seams(self)
        var search = EdgeDistance(from: circle.center)
        search.look(at: self) { $0.isAtPole || (seams.isNeeded && $0.isVertical) }
        for edge in seams.bounding { search.look(at: edge) }
        return search.meters.map { Distance.meters($0).meters >= circle.radiusMeters } ?? true
    }
}

extension PlaneEdge {
    /// Whether the edge is no more than a pole.
    fileprivate var isAtPole: Bool { ay == by && abs(ay) == 90 }
}

/// Vertical edges of an area that meet others a turn apart, as those of a band around the earth do:
/// between two of them, the area goes on.
private struct Seams {
    let isNeeded: Bool
    /// What of the vertical edges bounds the area, if there may be seams.
    private(set) var bounding: [PlaneEdge] = []

    init(_ outline: Outline) {
        isNeeded = outline.spansTurn
        guard isNeeded else { return }
        var edges: [PlaneEdge] = []
        _ = TurnedOutline(outline: outline, turn: 0).edges(meeting: outline.bounds) { edge in
            if edge.isVertical { edges.append(edge) }
            return true
        }
        for edge in edges {
            let others = edges.filter {
                abs($0.ax - edge.ax) == 360 && ($0.by > $0.ay) != (edge.by > edge.ay)
            }
            bounding += Self.rest(of: edge, without: others)
        }
    }

    private static func rest(of edge: PlaneEdge, without others: [PlaneEdge]) -> [PlaneEdge] {
        var (south, rest) = (min(edge.ay, edge.by), [PlaneEdge]())
        let north = max(edge.ay, edge.by)
        func add(_ from: Double, _ to: Double) {
            if from < to { rest.append(PlaneEdge(ax: edge.ax, ay: from, bx: edge.ax, by: to)) }
        }
        for other in others.sorted(by: { min($0.ay, $0.by) < min($1.ay, $1.by) }) {
            add(south, min(north, other.ay, other.by))
            south = max(south, min(north, max(other.ay, other.by)))
        }
        add(south, north)
        return rest
    }
}
