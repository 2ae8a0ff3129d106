/// The places of straight edges in longitude and latitude that are nearest to a point of the sphere, or
/// farthest from it.
///
/// What is farthest from a point is nearest to its antipode. Along an edge the haversine of the
/// angle to the point, or to the antipode, is a smooth function of the share `t` of the edge. A piece of
/// an edge whose slope cannot vanish has its least value at an end; one whose curvature cannot vanish
/// has one place inside at most, which Newton's method finds; any other is halved, unless it cannot
/// have less than what has been found.
///
/// - Note: Within 1e-4 m of exact arithmetic; a vertex as exact as `Sphere.meters`.
struct EdgeDistance {
    /// Where distances are measured from.
    private let origin: Sphere.Origin
    private let isFarthest: Bool

    /// The point, or its antipode, that the edges are to be near: degrees, radians.
    private let center: Coordinate
    private let latitude, longitude, cosLatitude: Double
    private let bound: HaversineBound

    /// The least haversine of places found, and the distance of one, in metres; infinite before.
    private(set) var haversine = Double.infinity
    private(set) var meters: Double?

    init(from position: Coordinate, isFarthest: Bool = false) {
        origin = Sphere.Origin(position)
        self.isFarthest = isFarthest
        center = isFarthest ? position.antipode : position
        latitude = center.latitude * Sphere.radiansPerDegree
        longitude = center.longitude * Sphere.radiansPerDegree
        cosLatitude = Sphere.cosineOfLatitude(center.latitude)
        bound = HaversineBound(from: center)
    }

    /// The edges of an outline, as far as they may be nearer than what has been found.
    ///
    /// - Parameter isLeftOut: tells edges that do not count.
    mutating func look(
        at outline: Outline, unless isLeftOut: (PlaneEdge) -> Bool = { _ in false }
    ) {
        look(at: TurnedOutline(outline: outline, turn: 0), outline.tree.root, isLeftOut)
    }

    private mutating func look(
        at outline: TurnedOutline, _ node: EdgeTree.Node, _ isLeftOut: (PlaneEdge) -> Bool
    ) {
        let tree = outline.outline.tree
        if node.level == 0 {
            for number in tree.edges(of: node) {
                let edge = outline.edge(number)
                guard !isLeftOut(edge) else { continue }
                look(at: edge) {
                    outline.outline.place(ofVertex: $0 == 0 ? number : number + 1)
                }
            }
            return
        }
        var children = tree.children(of: node).map { number in
            let child = EdgeTree.Node(level: node.level - 1, number: number)
            return (least: leastHaversine(to: tree.bounds(of: child)), node: child)
        }
        children.sort { $0.least < $1.least }
        for child in children where child.least <= haversine * (1 + 1e-12) {
            look(at: outline, child.node, isLeftOut)
        }
    }

    /// Inequality: the haversine of every place of the rectangle is at least this.
    private func leastHaversine(to box: PlaneBounds) -> Double {
        let least = bound.leastHaversine(
            south: box.south, west: box.west, north: box.north, east: box.east)
        guard isFarthest else { return least }
        // That from a place and that from its antipode are 1 together. Each is good where it is little.
        let greatest = HaversineBound(from: origin.position).greatestHaversine(
            south: box.south, west: box.west, north: box.north, east: box.east)
        return max(least, 1 - greatest - 1e-15)
    }

    // MARK: One edge

    /// How the haversine changes along an edge.
    private struct Course {
        let value, slope, curvature: Double
    }

    /// An edge in radians from the centre, and bounds of derivatives.
    private struct Path {
        let latitude, north, longitude, east: Double
        let mostCurvature, mostChange: Double
    }

    private func path(_ edge: PlaneEdge) -> Path {
        let (latitude, longitude) = (
            edge.ay * Sphere.radiansPerDegree,
            (edge.ax - center.longitude) * Sphere.radiansPerDegree
        )
        let north = (edge.by - edge.ay) * Sphere.radiansPerDegree
        let east = (edge.bx - edge.ax) * Sphere.radiansPerDegree
        let (m, n) = (abs(north), abs(east))
        // The greatest cosine of a latitude of the edge.
        let cosine =
            min(edge.ay, edge.by) <= 0 && max(edge.ay, edge.by) >= 0
            ? 1 : Sphere.cosineOfLatitude(min(abs(edge.ay), abs(edge.by)))
        return Path(
            latitude: latitude, north: north, longitude: longitude, east: east,
            mostCurvature: 0.5 * m * m
                + cosLatitude * (m * m * cosine + m * n + 0.5 * n * n * cosine),
            mostChange: 0.5 * m * m * m
                + cosLatitude
                * (m * m * m + 1.5 * m * m * n * cosine + 1.5 * m * n * n + 0.5 * n * n * n * cosine)
        )
    }

    private func course(_ path: Path, at t: Double) -> Course {
        let (phi, lambda) = (
            path.latitude + t * path.north, path.longitude + t * path.east
        )
        let (sine, cosine) = Sphere.sineAndCosine(phi)
        let (halfSine, halfCosine) = Sphere.sineAndCosine(lambda / 2)
        let (northSine, northCosine) = Sphere.sineAndCosine((phi - latitude) / 2)
        let (m, n) = (path.north, path.east)
        // Of the whole angles.
        let (sineEast, cosineEast) = (2 * halfSine * halfCosine, 1 - 2 * halfSine * halfSine)
        let square = halfSine * halfSine
        return Course(
            value: northSine * northSine + cosLatitude * cosine * square,
            slope: m * northSine * northCosine
                + cosLatitude * (0.5 * n * cosine * sineEast - m * sine * square),
            curvature: 0.5 * m * m * (1 - 2 * northSine * northSine)
                + cosLatitude
                * (0.5 * n * n * cosine * cosineEast - m * n * sine * sineEast
                    - m * m * cosine * square))
    }

    /// Both ends of an edge, and what between them may be nearer.
    mutating func look(at edge: PlaneEdge) {
        look(at: edge) { Coordinate(inPlane: $0 == 0 ? edge.a : edge.b) }
    }

    /// - Parameter end: the places of both ends, 0 and 1, with the numbers that were given.
    private mutating func look(at edge: PlaneEdge, end: (Int) -> Coordinate) {
        let path = path(edge)
        let middle = course(path, at: 0.5)
        guard mayBeNear(path, middle, half: 0.5) else { return }
        take(edge.a, end(0))
        take(edge.b, end(1))
        look(path, edge, middle, at: 0.5, half: 0.5)
    }

    /// Whether a piece of an edge may have a place that is nearer, by 1e-4 m, than what has been found.
    private func mayBeNear(_ path: Path, _ middle: Course, half: Double) -> Bool {
        guard haversine <= 1 else { return true }
        let least =
            middle.value - abs(middle.slope) * half - 0.5 * path.mostCurvature * half * half
        let slack = 1.5e-11 * (haversine * (1 - haversine)).squareRoot()
        // The ends of an edge are measured also where they are as near.
        if half == 0.5 { return least <= haversine + slack }
        return haversine > 1e-23 && least < haversine - slack
    }

    /// The nearest place strictly between the ends of a piece, if there may be one.
    private mutating func look(
        _ path: Path, _ edge: PlaneEdge, _ middle: Course, at t: Double, half: Double
    ) {
        if abs(middle.slope) > path.mostCurvature * half { return }
        if abs(middle.curvature) > path.mostChange * half {
            if middle.curvature > 0 { lookInConvex(path, edge, middle, at: t, half: half) }
            return
        }
        guard half * (abs(path.north) + abs(path.east)) > 1e-11 else { return take(edge, at: t) }
        for quarter in [-half / 2, half / 2] {
            let piece = course(path, at: t + quarter)
            if mayBeNear(path, piece, half: half / 2) {
                look(path, edge, piece, at: t + quarter, half: half / 2)
            }
        }
    }

    /// Newton's method between bounds that it may not leave.
    private mutating func lookInConvex(
        _ path: Path, _ edge: PlaneEdge, _ middle: Course, at start: Double, half: Double
    ) {
        var (low, high, t, here) = (start - half, start + half, start, middle)
        guard course(path, at: low).slope <= 0, course(path, at: high).slope >= 0 else { return }
        for _ in 0..<60 {
            if here.slope > 0 { high = t } else { low = t }
            var next = t - here.slope / here.curvature
            if !(next > low && next < high) { next = (low + high) / 2 }
            let step = abs(next - t)
            t = next
            if step * (abs(path.north) + abs(path.east)) < 1e-13 { break }
            here = course(path, at: t)
        }
        take(edge, at: t)
    }

    private mutating func take(_ edge: PlaneEdge, at t: Double) {
        let latitudes = (min(edge.ay, edge.by), max(edge.ay, edge.by))
        let point = PlanePoint(
            edge.ax + t * (edge.bx - edge.ax),
            min(max(edge.ay + t * (edge.by - edge.ay), latitudes.0), latitudes.1))
        take(point, Coordinate(inPlane: point))
    }

    /// Measures a place if it may be the nearest.
    private mutating func take(_ point: PlanePoint, _ place: Coordinate) {
        let (north, east) = (
            HaversineBound.sineOfHalf(point.y - center.latitude),
            HaversineBound.sineOfHalf(point.x - center.longitude)
        )
        let value =
            north * north + cosLatitude * Sphere.cosineOfLatitude(point.y) * east * east
        guard value <= haversine * (1 + 1e-12) + 1e-30 else { return }
        haversine = min(haversine, value)
        let length = origin.meters(to: place)
        meters = meters.map { isFarthest ? max($0, length) : min($0, length) } ?? length
    }

}

extension Coordinate {
    /// Where a point of the plane is, rounded.
    init(inPlane point: PlanePoint) {
        let longitude = point.x.remainder(dividingBy: 360)
        self.init(latitude: min(max(point.y, -90), 90), longitude: longitude)
    }
}
