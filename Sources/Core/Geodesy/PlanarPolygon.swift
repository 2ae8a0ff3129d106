import CGeodesy

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// Whether polygons in the plane are a valid multipolygon, told by GEOS; in a program without it none
/// is.
enum PlanarPolygon {
    /// - Parameter polygons: for each its rings, the shell first.
    /// - Throws: GEOS' reason why they make no valid multipolygon.
    static func validate(_ polygons: [[UnwrappedRing]]) throws(InvalidPolygon) {
        var positions: [Double] = []
        for ring in polygons.joined() {
            for (longitude, position) in zip(ring.longitudes, ring.positions) {
                positions += [longitude.degrees, position.latitude]
            }
        }
        let fault = gb_check_polygons(
            positions, polygons.joined().map { UInt32($0.positions.count) },
            polygons.map { UInt32($0.count) }, UInt32(polygons.count))
        guard let reason = fault.reason else { return }
        defer { free(reason) }
        throw InvalidPolygon(
            reason: String(cString: reason), polygon: fault.polygon < 0 ? nil : Int(fault.polygon),
            ring: fault.ring < 0 ? nil : Int(fault.ring))
    }
}
