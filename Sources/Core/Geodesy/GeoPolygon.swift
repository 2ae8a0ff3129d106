/// One or more polygons in degrees, each a shell with perhaps holes; edges and vertices are inside.
///
///     let triangle = try GeoPolygon([[[a, b, c, a]]])
///     triangle.contains(Coordinate(latitude: 0.5, longitude: 0.5))
///
/// Edges are straight in longitude and latitude, as in RFC 7946, not great circles. An edge longer
/// than 180° of longitude crosses the antimeridian the short way. 180 and -180 are the same
/// meridian; see `UnwrappedRing` for an edge from one to the other. At a pole a point is inside at
/// the polygon's longitudes alone, as in a `GeoBox`.
///
/// A value: its hash and equality are those of the numbers given. Copies share one prepared form.
///
/// - Complexity: to make one O(n log n) for n positions of most shapes, O(n²) for spiky ones, which
///   GEOS takes to find them valid; `contains` and `overlap` are those of `EdgeGrid`.
/// - Note: Sides are told exactly. Beyond the antimeridian longitudes are taken plus or minus 360,
///   rounded to binary64.
/// - Reference: GEOS' validity is that of OGC 06-103r4, "Simple feature access", section 6.1.11.
public struct GeoPolygon: Sendable {
    /// For each polygon its rings, the shell first, each with its first position again at its end.
    public let polygons: [[[Coordinate]]]

    /// At most 17 boxes that together hold the polygons.
    public let boxes: [GeoBox]

    private let plane: Plane

    /// Polygons of rings of positions, all as given.
    ///
    /// - Throws: `InvalidPolygon` for no polygons or rings, open or crossing rings, holes outside,
    ///   polygons that overlap, and whatever else GEOS calls invalid.
    public init(_ polygons: [[[Coordinate]]]) throws(InvalidPolygon) {
        let area = try UnwrappedArea(polygons)
        try area.validate()
        self.polygons = polygons
        boxes = Self.boxes(of: area.polygons.map { $0[0] })
        plane = Plane(area.polygons)
    }

    /// How many positions all rings have.
    public var positionCount: Int { polygons.joined().reduce(0) { $0 + $1.count } }

    /// About how many nanoseconds it takes to tell whether a point lies inside.
    public var testNanoseconds: Double { 80 + 4 * plane.meanEdges }

    /// Whether the point lies inside or on an edge.
    public func contains(_ point: Coordinate) -> Bool {
        boxes.contains { $0.contains(point) }
            && plane.contains(longitude: point.longitude, latitude: point.latitude)
    }

    /// How much of a rectangle of plain longitudes lies inside; `.part` also where it is not sure.
    ///
    /// Inequality: every point of a rectangle that is `.whole` is contained, none of one that is
    /// `.none`.
    public func overlap(south: Double, west: Double, north: Double, east: Double) -> Overlap {
        plane.overlap(west: west, south: south, east: east, north: north)
    }

    /// Boxes around shells; shells that overlap in longitude, or nearly do, share one.
    private static func boxes(of shells: [UnwrappedRing]) -> [GeoBox] {
        let gap = 22.5  // A seventeenth box finds no room.
        var boxes: [(west: UnwrappedLongitude, east: UnwrappedLongitude, latitudes: [Double])] = []
        for shell in shells.sorted(by: { $0.west < $1.west }) {
            let latitudes = shell.positions.map(\.latitude)
            let extremes = [latitudes.min()!, latitudes.max()!]
            if let last = boxes.last, shell.west.degrees <= last.east.degrees + gap {
                boxes[boxes.count - 1].east = max(last.east, shell.east)
                boxes[boxes.count - 1].latitudes += extremes
            } else {
                boxes.append((shell.west, shell.east, extremes))
            }
        }
        return boxes.map { west, east, latitudes in
            let isWorld = east >= west.nextTurn
            return GeoBox(
                south: latitudes.min()!, west: isWorld ? -180 : west.longitude,
                north: latitudes.max()!, east: isWorld ? 180 : east.longitude)
        }
    }
}

extension GeoPolygon: Hashable {
    /// Same numbers in the same order: 180 and -180 differ, since they can stand for other edges.
    public static func == (a: GeoPolygon, b: GeoPolygon) -> Bool {
        a.polygons == b.polygons && a.longitudes.elementsEqual(b.longitudes)
    }

    public func hash(into hasher: inout Hasher) { hasher.combine(polygons) }

    private var longitudes: some Sequence<Double> {
        polygons.lazy.joined().joined().map(\.longitude)
    }
}

/// Why rings are no polygon.
public struct InvalidPolygon: Error, Sendable, Hashable {
    /// GEOS' reason, with the place as longitude and latitude where there is one.
    public let reason: String

    /// Which polygon, and which of its rings, where it is the fault of one.
    public let polygon: Int?
    /// The index of the ring in its polygon, 0 for the shell; nil if the fault is of no single
    /// ring.
    public let ring: Int?

    init(reason: String, polygon: Int? = nil, ring: Int? = nil) {
        self.reason = reason
        self.polygon = polygon
        self.ring = ring
    }
}

/// The polygons laid out in the plane.
private struct Plane: Sendable {
    private let grid: EdgeGrid

    /// What to add to a longitude to find it in the plane.
    private let shifts: [Double]

    init(_ polygons: [[UnwrappedRing]]) {
        grid = EdgeGrid(polygons.joined().flatMap(\.edges))
        let west = polygons.map { $0[0].west.degrees }.min()!
        let east = polygons.map { $0[0].east.degrees }.max()!
        shifts = [0, 360, -360].filter { west <= 180 + $0 && east >= -180 + $0 }
    }

    var meanEdges: Double { grid.meanEdges }

    func contains(longitude: Double, latitude: Double) -> Bool {
        shifts.contains { grid.contains(x: longitude + $0, y: latitude) }
    }

    func overlap(west: Double, south: Double, east: Double, north: Double) -> Overlap {
        var result = Overlap.none
        for shift in shifts where result != .whole {
            let overlap = grid.overlap(
                west: west + shift, south: south, east: east + shift, north: north)
            if overlap != .none { result = overlap }
        }
        return result
    }
}

extension UnwrappedRing {
    /// The edges in the plane.
    fileprivate var edges: [PlaneEdge] {
        let corners = zip(longitudes, positions).map { (x: $0.degrees, y: $1.latitude) }
        return zip(corners, corners.dropFirst()).map { a, b in
            PlaneEdge(ax: a.x, ay: a.y, bx: b.x, by: b.y)
        }
    }
}

/// How much of something lies inside.
public enum Overlap: Sendable {
    /// No point is inside.
    case none
    /// Some points may be inside and others not.
    case part
    /// Every point is inside.
    case whole
}
