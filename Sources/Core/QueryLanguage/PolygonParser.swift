import Geodesy
import Objects
import PlainJSON

/// Parses a GeoJSON geometry of type Polygon or MultiPolygon (RFC 7946) into a `GeoPolygon`, or
/// throws the first fault with its path.
struct PolygonParser {
    private var positions: PositionParser

    init(limits: Limits) {
        positions = PositionParser(limit: limits.polygonPositions, of: "polygons")
    }

    mutating func parse(_ view: JSONView) throws(ServiceFailure) -> GeoPolygon {
        var members = try MemberReader(view)
        let type = try members.string("type")
        guard let isSeveral = ["Polygon": false, "MultiPolygon": true][type] else {
            throw members.failure(
                "type", "\(quoted(type)) is no area; expected \"Polygon\" or \"MultiPolygon\"")
        }
        let coordinates = try members.required("coordinates", "an array of rings of positions")
        try members.finish(as: "a polygon")
        return try ServiceFailure.inside(
            "coordinates", try polygon(coordinates, isSeveral: isSeveral))
    }

    private mutating func polygon(
        _ view: JSONView, isSeveral: Bool
    ) throws(ServiceFailure) -> GeoPolygon {
        var polygons: [[[Coordinate]]] = []
        if isSeveral {
            polygons = try view.map("an array of polygons") { view throws(ServiceFailure) in
                try rings(view)
            }
        } else {
            polygons = [try rings(view)]
        }
        do throws(InvalidPolygon) {
            return try GeoPolygon(polygons)
        } catch {
            let indices = [isSeveral ? error.polygon : nil, error.ring].compactMap(\.self)
            throw ServiceFailure(
                .invalidInputData, "the polygon is not valid: \(error.reason)",
                at: indices.map { "[\($0)]" }.joined())
        }
    }

    private mutating func rings(_ view: JSONView) throws(ServiceFailure) -> [[Coordinate]] {
        try view.map("an array of rings") { view throws(ServiceFailure) in
            try positions.positions(view, "a ring: an array of positions")
        }
    }
}
