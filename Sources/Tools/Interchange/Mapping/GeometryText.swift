import CGEOS

/// Geometries as other programs spell them, read by GEOS: well-known text, well-known binary in
/// hexadecimal (both also with an SRID in front), and GeoJSON.
final class GeometryText {
    enum Spelling { case wkt, hexadecimal, geoJSON }

    /// A geometry, reduced to positions of its own coordinates.
    struct Found {
        /// `Point`, `MultiPoint`, or what has been reduced to its one position.
        let type: String
        /// None for an empty geometry.
        let positions: [(x: Double, y: Double)]
        /// 0 where the geometry does not say it.
        let srid: Int
    }

    private let handle = GEOS_init_r()!

    deinit { GEOS_finish_r(handle) }

    /// - Throws: for a text that is no geometry, and for lines and areas that are not to be reduced.
    func read(
        _ text: String, _ spelling: Spelling, _ rule: GeometryRule
    ) throws(RecordError) -> Found {
        let (text, prefix) = spelling == .wkt ? Self.withoutPrefix(text) : (text, 0)
        guard let geometry = parse(text, spelling) else {
            throw RecordError("\(String(text.prefix(60))) is no geometry that can be read")
        }
        defer { GEOSGeom_destroy_r(handle, geometry) }
        let srid = prefix != 0 ? prefix : Int(GEOSGetSRID_r(handle, geometry))
        let type = name(of: geometry)
        guard GEOSisEmpty_r(handle, geometry) != 1 else {
            return Found(type: type, positions: [], srid: srid)
        }
        switch type {
        case "Point": return Found(type: type, positions: [position(geometry)], srid: srid)
        case "MultiPoint":
            let count = GEOSGetNumGeometries_r(handle, geometry)
            let positions = (0..<count).compactMap { index in
                GEOSGetGeometryN_r(handle, geometry, index).map(position)
            }
            return Found(type: type, positions: positions, srid: srid)
        default:
            return Found(type: type, positions: [try reduced(geometry, type, rule)], srid: srid)
        }
    }

    private func parse(_ text: String, _ spelling: Spelling) -> OpaquePointer? {
        switch spelling {
        case .wkt:
            let reader = GEOSWKTReader_create_r(handle)
            defer { GEOSWKTReader_destroy_r(handle, reader) }
            return GEOSWKTReader_read_r(handle, reader, text)
        case .hexadecimal:
            let reader = GEOSWKBReader_create_r(handle)
            defer { GEOSWKBReader_destroy_r(handle, reader) }
            return GEOSWKBReader_readHEX_r(handle, reader, Array(text.utf8), text.utf8.count)
        case .geoJSON:
            let reader = GEOSGeoJSONReader_create_r(handle)
            defer { GEOSGeoJSONReader_destroy_r(handle, reader) }
            return GEOSGeoJSONReader_readGeometry_r(handle, reader, text)
        }
    }

    private func reduced(
        _ geometry: OpaquePointer, _ type: String, _ rule: GeometryRule
    ) throws(RecordError) -> (x: Double, y: Double) {
        let point: OpaquePointer?
        switch rule {
        case .refuse:
            throw RecordError(
                "a \(type) is no point; --geometry point stores a point on it, "
                    + "--geometry centroid its centroid")
        case .point: point = GEOSPointOnSurface_r(handle, geometry)
        case .centroid: point = GEOSGetCentroid_r(handle, geometry)
        }
        guard let point else { throw RecordError("no point of the \(type) can be found") }
        defer { GEOSGeom_destroy_r(handle, point) }
        return position(point)
    }

    private func position(_ point: OpaquePointer) -> (x: Double, y: Double) {
        var (x, y) = (0.0, 0.0)
        GEOSGeomGetX_r(handle, point, &x)
        GEOSGeomGetY_r(handle, point, &y)
        return (x, y)
    }

    private func name(of geometry: OpaquePointer) -> String {
        guard let type = GEOSGeomType_r(handle, geometry) else { return "geometry" }
        defer { GEOSFree_r(handle, type) }
        return String(cString: type)
    }

    /// `SRID=4326;POINT(1 2)` without its beginning, and the number.
    private static func withoutPrefix(_ text: String) -> (String, Int) {
        guard text.uppercased().hasPrefix("SRID="), let end = text.firstIndex(of: ";"),
            let srid = Int(text[..<end].dropFirst(5))
        else { return (text, 0) }
        return (String(text[text.index(after: end)...]), srid)
    }
}

/// What becomes of lines and areas.
public enum GeometryRule: String, Sendable, Hashable, CaseIterable {
    /// They are refused.
    case refuse
    /// A point that lies on them.
    case point
    /// Their centroid, which may lie outside of them.
    case centroid
}
