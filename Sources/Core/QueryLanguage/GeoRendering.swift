import Geodesy
import PlainJSON

/// Renders a spatial clause as a document of the query language, and its shape in words.
extension GeoClause {
    /// Appends what follows `{"type":`.
    func write(to writer: inout JSONWriter) {
        switch shape {
        case .box(let box):
            writer.leaf("geobox", field)
            box.write(to: &writer)
        case .polygon(let polygon):
            writer.leaf("geopolygon", field)
            polygon.write(to: &writer)
        case .circle(let circle):
            writer.leaf("geodistance", field)
            circle.write(to: &writer)
        case .corridor(let corridor):
            writer.leaf("geocorridor", field)
            corridor.write(to: &writer)
        }
        for report in reports {
            writer.key(report.measure.member)
            writer.string(report.name)
        }
    }

    /// Appends the clause in the style of an SQL WHERE clause.
    func describe(to text: inout JSONWriter) {
        text.raw(field.utf8)
        switch shape {
        case .box(let box):
            text.raw(" IN BOX ")
            text.joined([box.south, box.west, box.north, box.east], ", ") { $1.double($0) }
        case .polygon(let polygon):
            text.raw(" IN POLYGON OF ")
            text.integer(polygon.positionCount)
            text.raw(" POSITIONS")
        case .circle(let circle): circle.describe(to: &text)
        case .corridor(let corridor):
            text.raw(" WITHIN ")
            text.double(corridor.widthMeters)
            text.raw(" m OF LINE OF ")
            text.integer(corridor.line.positions.count)
            text.raw(" POSITIONS")
        }
    }
}

extension GeoShape {
    /// In a plan: the points of a field that lie in the shape.
    public func points(of field: String) -> String {
        switch self {
        case .box: "the points of \(field) in the box"
        case .polygon: "the points of \(field) in the polygon"
        case .circle where isEverywhere: "all points of \(field)"
        case .circle: "the points of \(field) within the radius"
        case .corridor: "the points of \(field) in the corridor"
        }
    }
}

extension GeoMeasure {
    /// The member of a clause that names the distance by this measure.
    fileprivate var member: StaticString {
        switch self {
        case .distance, .distanceFromLine: "putDistanceInto"
        case .along: "putAlongInto"
        }
    }
}

extension GeoBox {
    fileprivate func write(to writer: inout JSONWriter) {
        writer.raw(",\"box\":{\"ne\":")
        writer.point(latitude: north, longitude: east)
        writer.key("sw")
        writer.point(latitude: south, longitude: west)
        writer.byte(UInt8(ascii: "}"))
    }
}

extension GeoCircle {
    fileprivate func write(to writer: inout JSONWriter) {
        writer.key("center")
        writer.point(latitude: center.latitude, longitude: center.longitude)
        if !isEverywhere {
            writer.key("radius")
            writer.double(radiusMeters)
        }
        if model != .sphere {
            writer.key("model")
            writer.string(model.rawValue)
        }
    }

    fileprivate func describe(to text: inout JSONWriter) {
        text.raw(" WITHIN ")
        if isEverywhere {
            text.raw("ANY DISTANCE")
        } else {
            text.double(radiusMeters)
            text.raw(" m")
        }
        text.raw(" OF ")
        text.double(center.latitude)
        text.raw(", ")
        text.double(center.longitude)
        if model != .sphere {
            text.raw(" ON ")
            text.raw(Array(model.rawValue.uppercased().utf8))
        }
    }
}

extension GeoPolygon {
    /// As a GeoJSON geometry.
    fileprivate func write(to writer: inout JSONWriter) {
        writer.key("polygon")
        if polygons.count == 1 {
            writer.raw("{\"type\":\"Polygon\",\"coordinates\":")
            Self.write(polygons[0], to: &writer)
        } else {
            writer.raw("{\"type\":\"MultiPolygon\",\"coordinates\":")
            writer.array(polygons) { Self.write($0, to: &$1) }
        }
        writer.byte(UInt8(ascii: "}"))
    }

    private static func write(_ rings: [[Coordinate]], to writer: inout JSONWriter) {
        writer.array(rings) { $1.positions($0) }
    }
}

extension GeoCorridor {
    fileprivate func write(to writer: inout JSONWriter) {
        writer.key("line")
        writer.raw("{\"type\":\"LineString\",\"coordinates\":")
        writer.positions(line.positions)
        writer.byte(UInt8(ascii: "}"))
        writer.key("width")
        writer.double(widthMeters)
    }
}

extension JSONWriter {
    /// Appends positions of GeoJSON, without altitudes.
    fileprivate mutating func positions(_ positions: [Coordinate]) {
        array(positions) { position, writer in
            writer.byte(UInt8(ascii: "["))
            writer.double(position.longitude)
            writer.byte(UInt8(ascii: ","))
            writer.double(position.latitude)
            writer.byte(UInt8(ascii: "]"))
        }
    }
}
