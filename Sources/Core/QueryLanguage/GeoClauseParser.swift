import Geodesy
import Objects
import PlainJSON

/// Parses spatial clauses, one type for each kind of shape: the members besides `type` and `field`
/// into a `GeoClause`, or throws the first fault with its path.
///
/// One parser reads all clauses of a query, because no two may report under one name.
struct GeoClauseParser {
    enum ClauseType: String, CaseIterable {
        case geobox, geodistance, geopolygon, geocorridor
    }

    /// The types of clauses that report distances, for error messages.
    static let reporting =
        "a \"geodistance\" does with \"putDistanceInto\", "
        + "a \"geocorridor\" with \"putAlongInto\" too"

    /// The names of the distances so far: the first is apart, because most queries have no other.
    private var firstName: String?
    private var otherNames: Set<String> = []
    /// The centres that follow an object; nil if there must be none.
    private(set) var centers: [MovingCenter]?
    /// The spatial clauses so far.
    private var count = 0
    private var polygons: PolygonParser
    private var lines: LineParser

    init(limits: Limits, followsObjects: Bool) {
        centers = followsObjects ? [] : nil
        polygons = PolygonParser(limits: limits)
        lines = LineParser(limits: limits)
    }

    mutating func clause(
        _ type: ClauseType, on field: FieldPath, _ members: inout MemberReader
    ) throws(ServiceFailure) -> GeoClause {
        defer { count += 1 }
        switch type {
        case .geobox: return GeoClause(field, .box(try Self.box(&members)))
        case .geopolygon: return GeoClause(field, .polygon(try polygon(&members)))
        case .geodistance:
            let circle = try circle(&members)
            let distance = try report("putDistanceInto", circle.distance, of: field, &members)
            return GeoClause(field, .circle(circle), reports: distance.map { [$0] } ?? [])
        case .geocorridor:
            let corridor = try corridor(&members)
            let distance = try report("putDistanceInto", corridor.distance, of: field, &members)
            let along = try report("putAlongInto", corridor.along, of: field, &members)
            return GeoClause(
                field, .corridor(corridor), reports: [distance, along].compactMap(\.self))
        }
    }

    /// The distance to which a member gives a name.
    private mutating func report(
        _ member: StaticString, _ measure: GeoMeasure, of field: FieldPath,
        _ members: inout MemberReader
    ) throws(ServiceFailure) -> ReportedDistance? {
        guard let name = try members.optionalString(member) else { return nil }
        try QueryParser.checkResultName(name, at: member.description)
        guard take(name) else {
            throw members.failure(
                member, "\(quoted(name)) is the name of another distance already")
        }
        return ReportedDistance(name, of: field, by: measure)
    }

    /// Notes a name.
    ///
    /// - Returns: whether it is new.
    private mutating func take(_ name: String) -> Bool {
        guard let firstName else {
            firstName = name
            return true
        }
        return name != firstName && otherNames.insert(name).inserted
    }

    private static func point(
        _ members: inout MemberReader, _ name: StaticString
    ) throws(ServiceFailure) -> Coordinate {
        let view = try members.required(name, "a GeoPoint")
        return try ServiceFailure.inside(name.description, try GeoPoint.validate(view))
    }

    // MARK: Shapes

    private mutating func polygon(
        _ members: inout MemberReader
    ) throws(ServiceFailure) -> GeoPolygon {
        let view = try members.required("polygon", "a GeoJSON Polygon or MultiPolygon")
        return try ServiceFailure.inside("polygon", try polygons.parse(view))
    }

    /// Reads the member `box`.
    static func box(_ members: inout MemberReader) throws(ServiceFailure) -> GeoBox {
        let view = try members.required("box", "the corners \"ne\" and \"sw\"")
        return try ServiceFailure.inside("box", try box(view))
    }

    private static func box(_ view: JSONView) throws(ServiceFailure) -> GeoBox {
        var box = try MemberReader(view)
        let northEast = try point(&box, "ne")
        let southWest = try point(&box, "sw")
        try box.finish(as: "a box")
        guard southWest.latitude <= northEast.latitude else {
            throw ServiceFailure(
                .invalidInputData,
                "the corners are swapped: \"sw\" at latitude \(southWest.latitude) lies north of "
                    + "\"ne\" at \(northEast.latitude)")
        }
        return GeoBox(
            south: southWest.latitude, west: southWest.longitude, north: northEast.latitude,
            east: northEast.longitude)
    }

    private mutating func circle(
        _ members: inout MemberReader
    ) throws(ServiceFailure) -> GeoCircle {
        let center = try center(&members)
        var meters = Double.infinity
        if let value = members.optional("radius") {
            meters = try length(
                value, "radius", atMost: GeoCircle.maximumRadiusMeters, ", half the circumference",
                members)
        }
        return GeoCircle(center, radiusMeters: meters, model: try model(&members))
    }

    /// The centre of a circle; of one that follows an object, any place.
    private mutating func center(
        _ members: inout MemberReader
    ) throws(ServiceFailure) -> Coordinate {
        guard centers != nil, let view = members.optional("center"),
            view.kind == .object, view["_type"]?.utf8?.elementsEqualBytes("object") == true
        else { return try Self.point(&members, "center") }
        centers!.append(try ServiceFailure.inside("center", try MovingCenter(view, of: count)))
        return Coordinate(latitude: 0, longitude: 0)
    }

    private func model(_ members: inout MemberReader) throws(ServiceFailure) -> DistanceModel {
        guard let name = try members.optionalString("model") else { return .sphere }
        guard let model = DistanceModel(rawValue: name) else {
            throw members.failure(
                "model", "\(quoted(name)) is no model; expected \"sphere\" or \"wgs84\"")
        }
        return model
    }

    private mutating func corridor(
        _ members: inout MemberReader
    ) throws(ServiceFailure) -> GeoCorridor {
        let view = try members.required("line", "a GeoJSON LineString")
        let line = try ServiceFailure.inside("line", try lines.parse(view))
        let value = try members.required("width", "a number of metres")
        let width = try length(
            value, "width", atMost: GeoCorridor.maximumWidthMeters, "", members)
        return GeoCorridor(line, widthMeters: width)
    }

    /// More than 0 metres.
    ///
    /// - Parameter reason: what the greatest length is, for the failure.
    private func length(
        _ value: JSONView, _ name: StaticString, atMost maximum: Double, _ reason: String,
        _ members: MemberReader
    ) throws(ServiceFailure) -> Double {
        guard value.kind == .number || value.kind == .huge else {
            throw members.failure(name, "expected a number of metres")
        }
        guard let meters = value.number?.double, meters <= maximum else {
            throw members.failure(name, "\(name) must be at most \(Int(maximum)) m\(reason)")
        }
        guard meters > 0 else { throw members.failure(name, "\(name) must be greater than 0") }
        return meters
    }
}
