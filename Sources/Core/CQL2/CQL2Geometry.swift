import Geodesy
import Objects
import QueryLanguage

/// The functions that ask for where a property is.
enum SpatialFunction: String {
    case intersects = "S_INTERSECTS"
    case within = "S_WITHIN"
}

extension CQL2Parser {
    /// The arguments of a spatial function, a property and a geometry; the current token is the
    /// parenthesis before them. What intersects may come first or second. What is within the other
    /// comes first, and nothing but a point is within a point.
    mutating func spatial(_ function: SpatialFunction) throws(CQL2SyntaxError) -> Clause {
        _ = take(mark: "(")
        let clause: GeoClause
        if let field = try place() {
            try comma()
            clause = GeoClause(field, try shape())
        } else {
            if function == .within { throw expected("a property") }
            let shape = try shape()
            try comma()
            guard let field = try place() else { throw expected("a property") }
            clause = GeoClause(field, shape)
        }
        guard take(mark: ")") else { throw expected("\")\"") }
        return .geo(clause)
    }

    /// A property that holds places.
    private mutating func place() throws(CQL2SyntaxError) -> FieldPath? {
        let position = token.position
        guard let name = try property() else { return nil }
        guard let places else { return name }
        guard let field = places.field(named: name) else {
            throw CQL2SyntaxError(
                "\(quoted(name.text)) is no place of the collection; it has \(places.names)",
                at: position)
        }
        return field
    }

    private mutating func comma() throws(CQL2SyntaxError) {
        guard take(mark: ",") else { throw expected("\",\"") }
    }

    private mutating func shape() throws(CQL2SyntaxError) -> GeoShape {
        let position = token.position
        let kind = token.keyword
        let isKnown = kind.map { ["BBOX", "POINT", "POLYGON", "MULTIPOLYGON"].contains($0) }
        guard isKnown == true else {
            throw expected("a BBOX, POINT, POLYGON or MULTIPOLYGON")
        }
        _ = take(keyword: kind!)
        if kind != "BBOX" { _ = take(keyword: "Z") }
        switch kind {
        case "BBOX": return .box(try box())
        case "POINT": return .box(try point())
        case "POLYGON": return .polygon(try polygon([try rings()], at: position))
        default:
            let polygons = try list { parser throws(CQL2SyntaxError) in try parser.rings() }
            return .polygon(try polygon(polygons, at: position))
        }
    }

    private func polygon(
        _ polygons: [[[Coordinate]]], at position: Int
    ) throws(CQL2SyntaxError) -> GeoPolygon {
        do throws(InvalidPolygon) {
            return try GeoPolygon(polygons)
        } catch {
            throw CQL2SyntaxError("the polygon is not valid: \(error.reason)", at: position)
        }
    }

    /// `(west, south, east, north)`, or with heights, which are ignored.
    private mutating func box() throws(CQL2SyntaxError) -> GeoBox {
        let position = token.position
        let numbers = try list { parser throws(CQL2SyntaxError) in
            guard let number = parser.takeNumber() else { throw parser.expected("a number") }
            return number
        }
        guard numbers.count == 4 || numbers.count == 6 else {
            throw CQL2SyntaxError("expected 4 or 6 numbers, found \(numbers.count)", at: position)
        }
        let east = numbers.count / 2
        let corners = [(numbers[0], numbers[1]), (numbers[east], numbers[east + 1])]
        var positions: [Coordinate] = []
        for (longitude, latitude) in corners {
            guard let corner = Coordinate(validLatitude: latitude, longitude: longitude) else {
                throw CQL2SyntaxError(
                    "longitude \(longitude), latitude \(latitude) is no place", at: position)
            }
            positions.append(corner)
        }
        guard positions[0].latitude <= positions[1].latitude else {
            throw CQL2SyntaxError(
                "the corners are swapped: expected west, south, east, north", at: position)
        }
        return GeoBox(
            south: positions[0].latitude, west: positions[0].longitude,
            north: positions[1].latitude, east: positions[1].longitude)
    }

    /// A place as the box that holds nothing else.
    private mutating func point() throws(CQL2SyntaxError) -> GeoBox {
        guard take(mark: "(") else { throw expected("\"(\"") }
        let place = try position()
        guard take(mark: ")") else { throw expected("\")\"") }
        return GeoBox(
            south: place.latitude, west: place.longitude, north: place.latitude,
            east: place.longitude)
    }

    private mutating func rings() throws(CQL2SyntaxError) -> [[Coordinate]] {
        try list { parser throws(CQL2SyntaxError) in
            try parser.list { parser throws(CQL2SyntaxError) in try parser.position() }
        }
    }

    /// `longitude latitude`, perhaps with a height, which is ignored.
    private mutating func position() throws(CQL2SyntaxError) -> Coordinate {
        let start = token.position
        guard let longitude = takeNumber(), let latitude = takeNumber() else {
            throw expected("a position: longitude and latitude in degrees")
        }
        _ = takeNumber()
        positionsLeft -= 1
        guard positionsLeft >= 0 else {
            throw CQL2SyntaxError(
                "more than \(limits.polygonPositions) positions in one filter", at: start)
        }
        guard let position = Coordinate(validLatitude: latitude, longitude: longitude) else {
            throw CQL2SyntaxError(
                "longitude \(longitude), latitude \(latitude) is no place", at: start)
        }
        return position
    }

    /// Elements between parentheses, with commas between them.
    private mutating func list<Element>(
        _ element: (inout CQL2Parser) throws(CQL2SyntaxError) -> Element
    ) throws(CQL2SyntaxError) -> [Element] {
        guard take(mark: "(") else { throw expected("\"(\"") }
        var elements = [try element(&self)]
        while take(mark: ",") { elements.append(try element(&self)) }
        guard take(mark: ")") else { throw expected("\",\" or \")\"") }
        return elements
    }
}
