/// A part of the earth that a query can ask for.
///
///     let shape = GeoShape.circle(GeoCircle(oslo, radiusMeters: 5_000))
///     shape.contains(Coordinate(latitude: 59.91, longitude: 10.75))       // true
///
/// Clauses, filters, plans and the index ask the shape. Its kind concerns those alone who read or
/// write one as text, and the index, which has a region of its own for each.
///
/// - Note: docs/architecture.md says what a new kind needs.
public enum GeoShape: Sendable, Hashable {
    /// A rectangle in degrees, which may cross the antimeridian.
    case box(GeoBox)
    /// One or more polygons, which may have holes.
    case polygon(GeoPolygon)
    /// What lies within a radius in metres; an infinite radius is everywhere.
    case circle(GeoCircle)
    /// What lies within a width in metres to either side of a line.
    case corridor(GeoCorridor)

    /// The kinds, by their names in plans.
    public enum Kind: String, Sendable, CaseIterable {
        /// One for each case of the shape.
        case box, polygon, circle, corridor
    }

    /// Which kind the shape is, for plans.
    public var kind: Kind {
        switch self {
        case .box: .box
        case .polygon: .polygon
        case .circle: .circle
        case .corridor: .corridor
        }
    }

    /// Whether the place lies in the shape or on its edge.
    public func contains(_ position: Coordinate) -> Bool {
        switch self {
        case .box(let box): box.contains(position)
        case .polygon(let polygon): polygon.contains(position)
        case .circle(let circle): circle.contains(position)
        case .corridor(let corridor): corridor.contains(position)
        }
    }

    /// Calls `body` with `contains`, for many places: the kind is told once.
    public func withTest(_ body: (_ contains: (Coordinate) -> Bool) -> Void) {
        switch self {
        case .box(let box): body { box.contains($0) }
        case .polygon(let polygon): body { polygon.contains($0) }
        case .circle(let circle): body { circle.contains($0) }
        case .corridor(let corridor): body { corridor.contains($0) }
        }
    }

    /// Whether every place lies in the shape, since nothing bounds it.
    public var isEverywhere: Bool { circle?.isEverywhere ?? false }

    /// The radius if the shape is all that lies within one by the measure; infinity is everywhere.
    ///
    /// Only such a shape can be walked in the order of the measure.
    public func radiusMeters(by measure: GeoMeasure) -> Double? {
        measure == radiusMeasure ? radiusMeters : nil
    }
}

/// Shapes with a radius around a centre, which watches move and resize.
extension GeoShape {
    /// The radius; nil if the shape has none.
    public var radiusMeters: Double? { circle?.radiusMeters }

    /// The measure of the radius; nil if the shape has none.
    public var radiusMeasure: GeoMeasure? { circle?.distance }

    /// The shape with another radius, another centre or both; a shape without a radius as it is.
    public func with(radiusMeters: Double? = nil, center: Coordinate? = nil) -> GeoShape {
        guard let circle else { return self }
        return .circle(
            GeoCircle(
                center ?? circle.center, radiusMeters: radiusMeters ?? circle.radiusMeters,
                model: circle.model))
    }

    private var circle: GeoCircle? {
        switch self {
        case .circle(let circle): circle
        case .box, .polygon, .corridor: nil
        }
    }
}

/// What a shape takes, by rough measure.
extension GeoShape {
    /// About how many nanoseconds it takes to tell whether a place lies inside.
    public var testNanoseconds: Double {
        switch self {
        case .box: 12
        case .polygon(let polygon): polygon.testNanoseconds
        case .circle: 60
        case .corridor(let corridor): corridor.testNanoseconds
        }
    }

    /// About how many nanoseconds the shape adds to each point that a search of the index finds: of
    /// a polygon or corridor what a test takes, as nodes are asked too, and of those inside no points
    /// are.
    public var searchNanoseconds: Double {
        switch self {
        case .polygon, .corridor: testNanoseconds
        case .box, .circle: 0
        }
    }

    /// Whether to count what lies within, node by node, may take long too: many points lie near the
    /// edge, and each takes long.
    public var isCostlyToCount: Bool {
        switch self {
        case .box: false
        case .polygon, .corridor: true
        case .circle(let circle): circle.model == .wgs84
        }
    }
}
