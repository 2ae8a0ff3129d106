/// A place made ready for questions: whether it meets another, lies within another, how far it is.
///
///     let zone = PreparedPlace(.geometry(polygon))
///     zone.intersects(PreparedPlace(.geometry(road)))     // whether they share a point
///     zone.distance(from: tower)                          // to its nearest point, 0 inside
///
/// Points, lines, boxes and areas are compared exactly for the coordinates as binary64: the sides of
/// edges are told by exact arithmetic, and no place where edges cross is ever computed. GEOS decides
/// alike wherever no rounding matters. Beyond the antimeridian longitudes are taken plus or minus 360,
/// rounded to binary64, as `GeoPolygon` takes them. Edges and vertices belong to a place. At a pole a
/// place has the longitudes that it has in the plane.
///
/// Where a circle takes part, distances decide, as they are reported.
///
/// - Complexity: to make one O(n) for n positions; a point O(log n) for most outlines; two outlines
///   O(k log n) for k edges within the bounds of the other. At worst, for long spikes that lie across
///   both axes, every edge is looked at, and every pair of edges.
public struct PreparedPlace: Sendable {
    enum Form: Sendable {
        case point(Coordinate)
        case circle(GeoCircle)
        case outline(Outline)
    }

    /// What has been prepared.
    public let place: GeoPlace
    let form: Form

    /// Prepares a place.
    public init(_ place: GeoPlace) {
        self.place = place
        form =
            switch place {
            case .point(let position): .point(position)
            case .circle(let circle): .circle(circle)
            case .geometry(let geometry): .outline(Outline(geometry))
            case .box(let box):
                if let outline = Outline(box) {
                    .outline(outline)
                } else {
                    .point(Coordinate(latitude: box.south, longitude: box.west))
                }
            }
    }

    /// About how much memory it takes, the place itself included.
    public var byteCount: Int {
        guard case .outline(let outline) = form else { return MemoryLayout<Self>.size }
        let given: Int
        if case .geometry(let geometry) = place {
            given =
                geometry.positions.count * MemoryLayout<Coordinate>.stride
                + (geometry.runEnds.count + geometry.partEnds.count) * 4
        } else {
            given = 0
        }
        return MemoryLayout<Self>.size + given + outline.byteCount
    }

    /// Whether the position lies in the place or on its edge.
    public func contains(_ position: Coordinate) -> Bool {
        switch form {
        case .point(let point): point == position
        case .circle(let circle): circle.contains(position)
        case .outline(let outline): outline.contains(position)
        }
    }
}

/// Questions about two places.
extension PreparedPlace {
    /// Whether the places share at least one point.
    ///
    /// - Parameter isOver: asked about every thousand edges.
    /// - Returns: nil once `isOver` returns true.
    public func intersects(
        _ other: PreparedPlace, until isOver: () -> Bool = { false }
    ) -> Bool? {
        switch (form, other.form) {
        case (.point(let point), _): other.contains(point)
        case (_, .point(let point)): contains(point)
        case (.circle(let a), .circle(let b)):
            Sphere.distance(a.center, b.center)
                .isWithin(radiusMeters: a.radiusMeters + b.radiusMeters)
        case (.circle(let circle), .outline), (.outline, .circle(let circle)):
            isOutline
                ? distance(from: circle.center).isWithin(radiusMeters: circle.radiusMeters)
                : other.distance(from: circle.center).isWithin(radiusMeters: circle.radiusMeters)
        case (.outline(let a), .outline(let b)):
            OutlineMeeting(a, b).isThere(until: isOver)
        }
    }

    /// Whether every point of this place lies in the other, edges included.
    ///
    /// - Parameter isOver: asked about every thousand edges.
    /// - Returns: nil once `isOver` returns true.
    public func isWithin(
        _ other: PreparedPlace, until isOver: () -> Bool = { false }
    ) -> Bool? {
        switch (form, other.form) {
        case (.point(let point), _): other.contains(point)
        case (_, .point): false
        case (.circle(let a), .circle(let b)):
            Sphere.distance(a.center, b.center)
                .isWithin(radiusMeters: b.radiusMeters - a.radiusMeters)
        case (.outline, .circle(let circle)):
            circle.isEverywhere
                || greatestDistance(from: circle.center)
                    .isWithin(radiusMeters: circle.radiusMeters)
        case (.circle(let circle), .outline(let outline)): outline.contains(circle)
        case (.outline(let a), .outline(let b)):
            OutlineContainment(of: a, in: b).isThere(until: isOver)
        }
    }

    private var isOutline: Bool {
        if case .outline = form { true } else { false }
    }
}

extension Outline {
    /// Whether a position lies on an edge or inside.
    func contains(_ position: Coordinate) -> Bool {
        let longitude = position.canonicalLongitude
        let outline = TurnedOutline(outline: self, turn: 0)
        return outline.contains(PlanePoint(longitude, position.latitude))
            || (bounds.east >= 180
                && outline.contains(PlanePoint(longitude + 360, position.latitude)))
    }
}
