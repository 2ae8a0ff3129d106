import CGeodesy

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// What GEOS tells of polygons in the plane; a program without it is told nothing.
enum PlanarPolygon {
    /// Whether they are a valid multipolygon; without GEOS none is.
    ///
    /// - Parameter polygons: for each its rings, the shell first.
    /// - Throws: GEOS' reason why they make no valid multipolygon.
    static func validate(_ polygons: [[UnwrappedRing]]) throws(InvalidPolygon) {
        let fault = gb_check_polygons(
            positions(polygons), ringSizes(polygons), polygons.map { UInt32($0.count) },
            UInt32(polygons.count))
        guard let reason = fault.reason else { return }
        defer { free(reason) }
        throw InvalidPolygon(
            reason: String(cString: reason), polygon: fault.polygon < 0 ? nil : Int(fault.polygon),
            ring: fault.ring < 0 ? nil : Int(fault.ring))
    }

    /// A point on the surface; nil without GEOS.
    static func pointOnSurface(_ polygons: [[UnwrappedRing]]) -> PlanePoint? {
        PlanePoint(
            gb_point_on_surface(
                positions(polygons), ringSizes(polygons), polygons.map { UInt32($0.count) },
                UInt32(polygons.count)))
    }

    /// A point of some lines; nil without GEOS.
    static func pointOnSurface(_ lines: [UnwrappedLine]) -> PlanePoint? {
        PlanePoint(
            gb_point_on_surface(
                lines.lazy.map(\.corners).joined().flatMap { [$0.longitude.degrees, $0.latitude] },
                lines.map { UInt32($0.corners.count) }, nil, UInt32(lines.count)))
    }

    private static func positions(_ polygons: [[UnwrappedRing]]) -> [Double] {
        var positions: [Double] = []
        for ring in polygons.joined() {
            for (longitude, position) in zip(ring.longitudes, ring.positions) {
                positions += [longitude.degrees, position.latitude]
            }
        }
        return positions
    }

    private static func ringSizes(_ polygons: [[UnwrappedRing]]) -> [UInt32] {
        polygons.joined().map { UInt32($0.positions.count) }
    }
}

extension PlanePoint {
    fileprivate init?(_ point: gb_point) {
        guard point.is_there != 0 else { return nil }
        self.init(point.x, point.y)
    }
}
