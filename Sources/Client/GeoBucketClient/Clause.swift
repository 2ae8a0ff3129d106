import PlainJSON
import Vocabulary

/// A condition on objects: a clause of the query language.
///
///     let clause = Clause.andClauses([
///         .geoDistance("location", center: here, radius: 3_000, putDistanceInto: "d"),
///         .equals("open", value: true),
///     ])
///
/// The names are those of Kii's `KiiClause`. A clause is sent without validation. The service
/// reports what is wrong, with the path of the member at fault. That includes a nil, whatever its
/// type: JSON's null is `JSONValue.null`.
public struct Clause: Sendable, Equatable {
    /// The clause as a document of the query language.
    public let json: JSONValue

    /// A clause given as JSON.
    public init(json: JSONValue) { self.json = json }

    private init(_ type: String, _ members: [JSONValue.Member]) {
        json = .object([JSONValue.Member("type", .string(type))] + members)
    }

    private init(_ type: String, _ field: String, _ members: [JSONValue.Member] = []) {
        self.init(type, [JSONValue.Member("field", .string(field))] + members)
    }

    private static func member(_ name: String, _ value: some JSONConvertible) -> JSONValue.Member {
        JSONValue.Member(name, operand(value))
    }

    private static func operand(_ value: some JSONConvertible) -> JSONValue {
        (try? JSONValue(nonNil: value)) ?? refused(value)
    }

    /// Stands for nil, or a value that JSON cannot hold: an object, which the service refuses there.
    package static func refused(_ value: Any) -> JSONValue {
        .object(["invalid": .string("\(value)")])
    }

    /// Every object.
    public static let all = Clause("all", [] as [JSONValue.Member])

    // MARK: Values

    /// Objects whose field has this value; numbers compare by value, so 3 equals 3.0.
    public static func equals(_ field: String, value: some JSONConvertible) -> Clause {
        Clause("eq", field, [member("value", value)])
    }

    /// Objects whose field has another value of a comparable type; not those without the field.
    public static func notEquals(_ field: String, value: some JSONConvertible) -> Clause {
        notClause(equals(field, value: value))
    }

    /// Objects whose field has a greater value of the same kind: both numbers, or both strings.
    public static func greaterThan(_ field: String, value: some JSONConvertible) -> Clause {
        Clause("range", field, [member("lowerLimit", value), member("lowerIncluded", false)])
    }

    /// Objects whose field has this value or a greater one of the same kind.
    public static func greaterThanOrEqual(_ field: String, value: some JSONConvertible) -> Clause {
        Clause("range", field, [member("lowerLimit", value)])
    }

    /// Objects whose field has a smaller value of the same kind: both numbers, or both strings.
    public static func lessThan(_ field: String, value: some JSONConvertible) -> Clause {
        Clause("range", field, [member("upperLimit", value), member("upperIncluded", false)])
    }

    /// Objects whose field has this value or a smaller one of the same kind.
    public static func lessThanOrEqual(_ field: String, value: some JSONConvertible) -> Clause {
        Clause("range", field, [member("upperLimit", value)])
    }

    /// Values between two limits, which are included unless stated otherwise.
    public static func range<Value: JSONConvertible>(
        _ field: String, from lower: Value, lowerIncluded: Bool = true, through upper: Value,
        upperIncluded: Bool = true
    ) -> Clause {
        var members = [member("lowerLimit", lower)]
        if !lowerIncluded { members.append(member("lowerIncluded", false)) }
        members.append(member("upperLimit", upper))
        if !upperIncluded { members.append(member("upperIncluded", false)) }
        return Clause("range", field, members)
    }

    /// One of up to 200 values.
    public static func `in`(_ field: String, value: [some JSONConvertible]) -> Clause {
        Clause("in", field, [.init("values", .array(value.map { operand($0) }))])
    }

    /// Objects whose field is a string that begins with this one.
    public static func startsWith(_ field: String, value: String) -> Clause {
        Clause("prefix", field, [member("prefix", value)])
    }

    /// A string that contains a string, or an array with an equal element.
    public static func contains(_ field: String, value: some JSONConvertible) -> Clause {
        Clause("contains", field, [member("value", value)])
    }

    /// Objects that have the field, of one type or of any.
    public static func hasField(_ field: String, andType type: FieldType? = nil) -> Clause {
        Clause("hasField", field, type.map { [member("fieldType", $0.rawValue)] } ?? [])
    }

    /// The field types that a clause can test for.
    public typealias FieldType = Vocabulary.FieldType

    // MARK: Places

    /// Points between two corners, edges included; a west side east of the east side crosses the
    /// 180th meridian.
    public static func geoBox(
        _ field: String, northEast: GeoPoint, southWest: GeoPoint
    ) -> Clause {
        let corners = JSONValue.object([
            .init("ne", northEast.unchecked), .init("sw", southWest.unchecked),
        ])
        return Clause("geobox", field, [.init("box", corners)])
    }

    /// Points within a distance of a centre.
    ///
    /// - Parameters:
    ///   - radius: metres; nil means everywhere.
    ///   - putDistanceInto: the name under which each object reports its distance.
    ///   - onEllipsoid: measure along geodesics on the WGS 84 ellipsoid instead of on the sphere.
    public static func geoDistance(
        _ field: String, center: GeoPoint, radius: Double? = nil, putDistanceInto: String? = nil,
        onEllipsoid: Bool = false
    ) -> Clause {
        geoDistance(
            field, center: center.unchecked, radius: radius, putDistanceInto: putDistanceInto,
            onEllipsoid: onEllipsoid)
    }

    static func geoDistance(
        _ field: String, center: JSONValue, radius: Double?, putDistanceInto: String?,
        onEllipsoid: Bool
    ) -> Clause {
        var members = [JSONValue.Member("center", center)]
        if let radius { members.append(member("radius", radius)) }
        if let putDistanceInto { members.append(member("putDistanceInto", putDistanceInto)) }
        if onEllipsoid { members.append(member("model", "wgs84")) }
        return Clause("geodistance", field, members)
    }

    /// Points inside a polygon or on its edge.
    ///
    /// - Parameter rings: the outer ring and then its holes, each closed.
    public static func geoPolygon(_ field: String, rings: [[GeoPoint]]) -> Clause {
        geoPolygon(field, "Polygon", coordinates(rings))
    }

    /// Points inside one of several polygons or on its edge.
    ///
    /// - Parameter polygons: the rings of each: the outer one and then its holes, each closed.
    public static func geoPolygon(_ field: String, polygons: [[[GeoPoint]]]) -> Clause {
        geoPolygon(field, "MultiPolygon", .array(polygons.map(coordinates)))
    }

    private static func geoPolygon(
        _ field: String, _ type: String, _ coordinates: JSONValue
    ) -> Clause {
        let polygon = JSONValue.object(["type": .string(type), "coordinates": coordinates])
        return Clause("geopolygon", field, [.init("polygon", polygon)])
    }

    /// Points within a distance of a line of great-circle arcs.
    ///
    /// - Parameters:
    ///   - line: two or more points, in the order in which the line passes them.
    ///   - width: metres to either side of the line, at most 1,000,000.
    ///   - putDistanceInto: the name under which each object reports its distance from the line, in
    ///     metres.
    ///   - putAlongInto: the name under which each object reports how far along the line its nearest
    ///     place is, in metres from the line's beginning.
    public static func geoCorridor(
        _ field: String, line: [GeoPoint], width: Double, putDistanceInto: String? = nil,
        putAlongInto: String? = nil
    ) -> Clause {
        let line = JSONValue.object([
            "type": .string("LineString"), "coordinates": .array(line.map(\.position)),
        ])
        var members = [JSONValue.Member("line", line), member("width", width)]
        if let putDistanceInto { members.append(member("putDistanceInto", putDistanceInto)) }
        if let putAlongInto { members.append(member("putAlongInto", putAlongInto)) }
        return Clause("geocorridor", field, members)
    }

    private static func coordinates(_ rings: [[GeoPoint]]) -> JSONValue {
        .array(rings.map { ring in .array(ring.map(\.position)) })
    }

    // MARK: Logic

    /// Objects that match every one of the clauses.
    public static func andClauses(_ clauses: [Clause]) -> Clause {
        Clause("and", [.init("clauses", .array(clauses.map(\.json)))])
    }

    /// Objects that match at least one of the clauses.
    public static func orClauses(_ clauses: [Clause]) -> Clause {
        Clause("or", [.init("clauses", .array(clauses.map(\.json)))])
    }

    /// Objects for which the clause is false: neither those that match it nor those that it cannot
    /// judge, for example because they lack the field.
    public static func notClause(_ clause: Clause) -> Clause {
        Clause("not", [.init("clause", clause.json)])
    }

    /// A chain becomes one clause, however long: `a && b && c` is `andClauses([a, b, c])`.
    public static func && (a: Clause, b: Clause) -> Clause {
        andClauses(a.parts(of: "and") + b.parts(of: "and"))
    }

    /// A chain becomes one clause, however long.
    public static func || (a: Clause, b: Clause) -> Clause {
        orClauses(a.parts(of: "or") + b.parts(of: "or"))
    }

    /// The clauses that a clause of this type joins; for another type, the clause itself.
    private func parts(of type: String) -> [Clause] {
        guard json["type"]?.string == type, let parts = json["clauses"]?.array, !parts.isEmpty,
            json.members.count == 2
        else { return [self] }
        return parts.map(Clause.init(json:))
    }

    /// The same as `notClause`.
    public static prefix func ! (clause: Clause) -> Clause { notClause(clause) }
}

extension GeoPoint {
    /// The point's JSON, in range or not: in a clause the service reports what is wrong.
    var unchecked: JSONValue {
        .object([
            "_type": .string("point"), "lat": Self.degrees(latitude),
            "lon": Self.degrees(longitude),
        ])
    }

    /// The point in the notation of GeoJSON.
    fileprivate var position: JSONValue {
        .array([Self.degrees(longitude), Self.degrees(latitude)])
    }

    /// NaN and infinities, which JSON lacks, become strings, which are not valid degrees.
    private static func degrees(_ value: Double) -> JSONValue {
        (try? value.jsonValue) ?? .string("\(value)")
    }
}
