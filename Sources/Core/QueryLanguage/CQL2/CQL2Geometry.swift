import Geodesy
import Objects

// Where a property is.

extension TextParser {
    /// The arguments of a spatial function, a property and a geometry. What intersects may come first
    /// or second. What is within the other comes first, and nothing but a point is within a point.
    mutating func spatial(isWithin: Bool) throws(FilterSyntaxError) -> Clause {
        try pass("(")
        let clause: GeoClause
        if let field = try place() {
            try pass(",")
            clause = GeoClause(field, try shape())
        } else {
            if isWithin { throw expected("a property") }
            let shape = try shape()
            try pass(",")
            guard let field = try place() else { throw expected("a property") }
            clause = GeoClause(field, shape)
        }
        try pass(")")
        return .geo(clause)
    }

    /// A property that holds places.
    private mutating func place() throws(FilterSyntaxError) -> FieldPath? {
        let position = token.position
        guard let name = try property() else { return nil }
        guard let places else { return name }
        guard let field = places.field(named: name) else {
            throw fault(
                "\(quoted(name.text)) is no place of the collection; it has \(places.names)",
                at: position)
        }
        return field
    }

    private mutating func shape() throws(FilterSyntaxError) -> GeoShape {
        let position = token.position
        guard let kind = token.name.flatMap(Geometry.init) else {
            throw expected("a BBOX, POINT, POLYGON or MULTIPOLYGON")
        }
        at += 1
        if kind != .box { _ = take("Z") }
        switch kind {
        case .box: return .box(try box())
        case .point: return .box(try point())
        case .polygon: return .polygon(try polygon([try rings()], at: position))
        case .multiPolygon:
            let polygons = try list { parser throws(FilterSyntaxError) in try parser.rings() }
            return .polygon(try polygon(polygons, at: position))
        }
    }

    private func polygon(
        _ polygons: [[[Coordinate]]], at position: Int
    ) throws(FilterSyntaxError) -> GeoPolygon {
        do throws(InvalidPolygon) {
            return try GeoPolygon(polygons)
        } catch {
            throw fault("the polygon is not valid: \(error.reason)", at: position)
        }
    }

    /// `(west, south, east, north)`, or with heights, which are ignored.
    private mutating func box() throws(FilterSyntaxError) -> GeoBox {
        let position = token.position
        let numbers = try list { parser throws(FilterSyntaxError) in
            guard let number = parser.takeNumber() else { throw parser.expected("a number") }
            return number
        }
        guard numbers.count == 4 || numbers.count == 6 else {
            throw fault("expected 4 or 6 numbers, found \(numbers.count)", at: position)
        }
        let east = numbers.count / 2
        let southWest = try place(numbers[0], numbers[1], at: position)
        let northEast = try place(numbers[east], numbers[east + 1], at: position)
        guard southWest.latitude <= northEast.latitude else {
            throw fault(
                "the corners are swapped: expected west, south, east, north", at: position)
        }
        return GeoBox(
            south: southWest.latitude, west: southWest.longitude, north: northEast.latitude,
            east: northEast.longitude)
    }

    /// A place as the box that holds nothing else.
    private mutating func point() throws(FilterSyntaxError) -> GeoBox {
        try pass("(")
        let place = try position()
        try pass(")")
        return GeoBox(
            south: place.latitude, west: place.longitude, north: place.latitude,
            east: place.longitude)
    }

    private mutating func rings() throws(FilterSyntaxError) -> [[Coordinate]] {
        try list { parser throws(FilterSyntaxError) in
            try parser.list { parser throws(FilterSyntaxError) in try parser.position() }
        }
    }

    /// `longitude latitude`, perhaps with a height, which is ignored.
    private mutating func position() throws(FilterSyntaxError) -> Coordinate {
        let start = token.position
        guard let longitude = takeNumber(), let latitude = takeNumber() else {
            throw expected("a position: longitude and latitude in degrees")
        }
        _ = takeNumber()
        positionsLeft -= 1
        guard positionsLeft >= 0 else {
            throw fault(
                "more than \(limits.polygonPositions) positions in one filter", at: start)
        }
        return try place(longitude, latitude, at: start)
    }

    private func place(
        _ longitude: Double, _ latitude: Double, at position: Int
    ) throws(FilterSyntaxError) -> Coordinate {
        guard let place = Coordinate(validLatitude: latitude, longitude: longitude) else {
            throw fault("longitude \(longitude), latitude \(latitude) is no place", at: position)
        }
        return place
    }

    private mutating func takeNumber() -> Double? {
        guard case .number(let number) = token.kind else { return nil }
        at += 1
        return number.double
    }
}

/// The geometries that a property may be compared with.
private enum Geometry: String {
    case box = "BBOX"
    case point = "POINT"
    case polygon = "POLYGON"
    case multiPolygon = "MULTIPOLYGON"
}
