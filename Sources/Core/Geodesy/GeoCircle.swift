/// What lies within a distance of a place, the edge included.
///
///     let near = GeoCircle(tower, radiusMeters: 500)
///     near.contains(Coordinate(latitude: 35.66, longitude: 139.745))      // true
///
/// A place lies inside exactly when its distance, rounded to the micrometre, is at most the radius.
public struct GeoCircle: Sendable, Hashable {
    /// The centre, and how distances from it are measured.
    public let origin: DistanceModel.Origin

    /// Metres, 0 or more; infinity is everywhere.
    public let radiusMeters: Double

    /// Half the circumference of the sphere: no two places are farther apart.
    public static let maximumRadiusMeters = 20_015_115.0

    /// The circle around a centre; without a radius, everywhere.
    public init(
        _ center: Coordinate, radiusMeters: Double = .infinity, model: DistanceModel = .sphere
    ) {
        precondition(radiusMeters >= 0, "a radius of \(radiusMeters) m")
        origin = DistanceModel.Origin(center, model)
        self.radiusMeters = radiusMeters
    }

    /// Degrees, as the circle was made with.
    public var center: Coordinate { origin.position }
    /// Whether distances are measured on the sphere or on the WGS 84 ellipsoid.
    public var model: DistanceModel { origin.model }

    /// Whether the circle has no edge.
    public var isEverywhere: Bool { radiusMeters == .infinity }

    /// How far places lie from the centre.
    public var distance: GeoMeasure { .distance(from: origin) }

    /// Whether the place lies in the circle or on its edge.
    public func contains(_ position: Coordinate) -> Bool {
        isEverywhere || origin.isWithin(radiusMeters: radiusMeters, of: position)
    }
}
