import Geodesy
import JSONText
import Objects
import QueryLanguage

/// The line in a GeoJSON file: a LineString, a Feature with one, or a FeatureCollection in which
/// exactly one Feature has one.
enum LineFile {
    static func read(_ path: String) throws -> GeoLine {
        try JSONParser.reading(try Files.contents(of: path)) { view in try line(view) }
    }

    private static func line(_ view: JSONView) throws(ServiceFailure) -> GeoLine {
        switch view["type"]?.string {
        case "Feature":
            guard let geometry = view["geometry"] else { throw noLine("the Feature") }
            return try ServiceFailure.inside("geometry", try GeoLine(geoJSON: geometry))
        case "FeatureCollection": return try line(ofCollection: view)
        default: return try GeoLine(geoJSON: view)
        }
    }

    private static func line(ofCollection view: JSONView) throws(ServiceFailure) -> GeoLine {
        var found: [(path: String, geometry: JSONView)] = []
        if let features = view["features"], features.kind == .array {
            for (index, feature) in zip(0..., features.elements) {
                guard let geometry = feature["geometry"], geometry["type"]?.string == "LineString"
                else { continue }
                found.append(("features[\(index)].geometry", geometry))
            }
        }
        guard let (path, geometry) = found.first else { throw noLine("the FeatureCollection") }
        guard found.count == 1 else {
            throw ServiceFailure(
                .invalidInputData, "expected one LineString, found \(found.count)", at: "features")
        }
        return try ServiceFailure.inside(path, try GeoLine(geoJSON: geometry))
    }

    private static func noLine(_ what: String) -> ServiceFailure {
        ServiceFailure(.invalidInputData, "\(what) has no geometry of type LineString")
    }
}
