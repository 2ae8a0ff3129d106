/// What may be a value of an object, or what such values are compared with: a point, a circle, a box,
/// or lines or areas.
///
///     let zone = PreparedPlace(.geometry(try Geometry(.polygon, parts: [[ring]])))
///     zone.contains(Coordinate(latitude: 35.66, longitude: 139.75))
public enum GeoPlace: Sendable, Hashable {
    /// One point.
    case point(Coordinate)
    /// What lies within a radius, on the sphere.
    case circle(GeoCircle)
    /// A rectangle in degrees.
    case box(GeoBox)
    /// Lines or areas.
    case geometry(Geometry)
}

extension GeoPlace {
    /// The places of a shape that a query asks for; nil for a corridor, which is none, and for a circle
    /// on the ellipsoid.
    public init?(_ shape: GeoShape) {
        switch shape {
        case .box(let box): self = .box(box)
        case .polygon(let polygon): self = .geometry(Geometry(polygon))
        case .circle(let circle):
            guard circle.model == .sphere else { return nil }
            self = .circle(circle)
        case .corridor: return nil
        }
    }
}

extension Geometry {
    /// The polygons of a valid polygon.
    public init(_ polygon: GeoPolygon) {
        do throws(InvalidGeometry) {
            try self.init(.multiPolygon, parts: polygon.polygons, isKnownToBeValid: true)
        } catch {
            preconditionFailure("a polygon that was valid is none: \(error.reason)")
        }
    }
}
