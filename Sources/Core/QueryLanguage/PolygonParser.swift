import Geodesy
import JSONText
import Objects

/// Parses a GeoJSON geometry of type Polygon or MultiPolygon (RFC 7946) into a `GeoPolygon`, or
/// throws the first fault with its path.
///
/// The first two numbers of a position are longitude and latitude; further ones, such as an
/// altitude, must be numbers and are ignored.
struct PolygonParser {
    /// How many more positions the query may have.
    private var positions: Int
    private let limit: Int

    init(limits: Limits) {
        limit = limits.polygonPositions
        positions = limit
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
            polygons = try elements(of: view, "an array of polygons") {
                parser, view throws(ServiceFailure) in try parser.rings(view)
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
        try elements(of: view, "an array of rings") { parser, view throws(ServiceFailure) in
            try parser.elements(of: view, "a ring: an array of positions") {
                parser, view throws(ServiceFailure) in
                try parser.position(view)
            }
        }
    }

    private mutating func elements<Element>(
        of view: JSONView, _ expected: String,
        _ read: (inout PolygonParser, JSONView) throws(ServiceFailure) -> Element
    ) throws(ServiceFailure) -> [Element] {
        guard view.kind == .array else {
            throw ServiceFailure(.invalidInputData, "expected \(expected)")
        }
        var elements: [Element] = []
        elements.reserveCapacity(view.count)
        for (index, element) in zip(0..., view.elements) {
            elements.append(try ServiceFailure.inside("[\(index)]", try read(&self, element)))
        }
        return elements
    }

    private mutating func position(_ view: JSONView) throws(ServiceFailure) -> Coordinate {
        var numbers = view.elements
        guard let longitude = numbers.next(), let latitude = numbers.next() else {
            throw ServiceFailure(
                .invalidInputData, "expected a position: [longitude, latitude] in degrees")
        }
        positions -= 1
        guard positions >= 0 else {
            throw ServiceFailure(
                .invalidInputData, "more than \(limit) positions in the polygons of one query")
        }
        for (index, number) in zip(2..., numbers) where number.number == nil {
            throw ServiceFailure(.invalidInputData, "expected a number", at: "[\(index)]")
        }
        return Coordinate(
            latitude: try GeoPoint.degrees(latitude, 90, at: "[1]"),
            longitude: try GeoPoint.degrees(longitude, 180, at: "[0]"))
    }
}
